# What this package offers; `__init__.py` loads each name when it is first asked for.

from toolvet.proxy.stdio.loop import run_stdio as run_stdio
