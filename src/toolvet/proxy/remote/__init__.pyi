# The public names of this package; `__init__.py` loads each one when it is first used.

from toolvet.proxy.remote.loop import run_stdio_to_http as run_stdio_to_http
