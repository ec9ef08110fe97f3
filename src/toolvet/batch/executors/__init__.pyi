# What this package offers; `__init__.py` loads each name when it is first asked for.

from toolvet.batch.executors.carrier import (
    AskingCarrier as AskingCarrier,
    EngineFigures as EngineFigures,
)
from toolvet.batch.executors.on_daft import DaftCarrier as DaftCarrier
from toolvet.batch.executors.on_dask import DaskCarrier as DaskCarrier
