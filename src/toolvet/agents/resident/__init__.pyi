# What this package offers; `__init__.py` loads each name when it is first asked for.

from toolvet.agents.resident.client import ask as ask
from toolvet.agents.resident.server import Resident as Resident
