# The public names of this package; `__init__.py` loads each one when it is first used.

from toolvet.proxy.bridge.bridge import run_bridge as run_bridge
