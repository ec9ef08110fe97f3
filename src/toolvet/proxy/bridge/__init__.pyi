# What this package offers; `__init__.py` loads each name when it is first asked for.

from toolvet.proxy.bridge.bridge import run_bridge as run_bridge
