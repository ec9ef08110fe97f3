# What this package offers; `__init__.py` loads each name when it is first asked for.

from toolvet.proxy.http.request_filter import (
    host_of as host_of,
    is_loopback as is_loopback,
)
from toolvet.proxy.http.serve import run_http as run_http
