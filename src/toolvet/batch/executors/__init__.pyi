# What this package offers; `__init__.py` loads each name when it is first asked for.

from toolvet.batch.executors.executor import EngineFigures as EngineFigures
from toolvet.batch.executors.opening import open_executor as open_executor
