# What this package offers; `__init__.py` loads each name when it is first asked for.

from toolvet.proxy.record.metrics_server import MetricsServer as MetricsServer
from toolvet.proxy.record.recorder import Recorder as Recorder
from toolvet.proxy.record.recording import (
    Recording as Recording,
    recorder_of as recorder_of,
)
