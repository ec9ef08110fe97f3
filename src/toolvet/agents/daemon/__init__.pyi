# The public names of this package; `__init__.py` loads each one when it is first used.

from toolvet.agents.daemon.client import ask as ask
from toolvet.agents.daemon.server import Daemon as Daemon
