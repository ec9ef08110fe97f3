# The public names of this package; `__init__.py` loads each one when it is first used.

from toolvet.batch.executors.executor import EngineFigures as EngineFigures
from toolvet.batch.executors.opening import open_executor as open_executor
