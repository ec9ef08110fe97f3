# What this package offers; `__init__.py` loads each name when it is first asked for.

from toolvet.server.scores.platform import (
    destination as destination,
    destination_names as destination_names,
)
from toolvet.server.scores.sending import (
    Sending as Sending,
    send_scores as send_scores,
)
