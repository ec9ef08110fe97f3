# What this package offers; `__init__.py` loads each name when it is first asked for.

from toolvet.proxy.remote.loop import run_stdio_to_http as run_stdio_to_http
