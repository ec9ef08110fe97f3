# The public names of this package; `__init__.py` loads each one when it is first used.

from toolvet.proxy.http.request_filter import (
    host_of as host_of,
    is_loopback as is_loopback,
)
from toolvet.proxy.http.serve import run_http as run_http
