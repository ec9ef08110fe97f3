# The public names of this package; `__init__.py` loads each one when it is first used.

from toolvet.server.dashboard.alerting import AlertWatch as AlertWatch
from toolvet.server.dashboard.app import make_app as make_app
from toolvet.server.dashboard.server import (
    bounded_end as bounded_end,
    open_socket as open_socket,
    run_app as run_app,
)
