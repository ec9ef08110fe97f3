# The public names of this package; `__init__.py` loads each one when it is first used.

from toolvet.batch.check import BatchCheck as BatchCheck
