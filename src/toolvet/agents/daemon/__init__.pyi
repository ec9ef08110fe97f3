# What this package offers; `__init__.py` loads each name when it is first asked for.

from toolvet.agents.daemon.client import ask as ask
from toolvet.agents.daemon.server import Daemon as Daemon
