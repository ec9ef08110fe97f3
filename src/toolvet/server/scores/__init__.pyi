# What this package offers; `__init__.py` loads each name when it is first asked for.

from toolvet.server.scores.platform import (
    Sending as Sending,
    destination as destination,
    destination_names as destination_names,
    send_scores as send_scores,
)
