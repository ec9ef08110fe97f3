# The public names of this package; `__init__.py` loads each one when it is first used.

from toolvet.proxy.record.metrics_server import MetricsServer as MetricsServer
from toolvet.proxy.record.neighbours import names_of_neighbours as names_of_neighbours
from toolvet.proxy.record.recorder import Recorder as Recorder
from toolvet.proxy.record.recording import (
    Recording as Recording,
    recorder_of as recorder_of,
)
