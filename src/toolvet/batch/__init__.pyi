# What this package offers; `__init__.py` loads each name when it is first asked for.

from toolvet.batch.check import BatchCheck as BatchCheck
