# The public names of this package; `__init__.py` loads each one when it is first used.

from toolvet.proxy.stdio.loop import run_stdio as run_stdio
