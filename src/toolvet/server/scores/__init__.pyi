# The public names of this package; `__init__.py` loads each one when it is first used.

from toolvet.server.scores.platform import (
    Sending as Sending,
    destination as destination,
    destination_names as destination_names,
    send_scores as send_scores,
)
