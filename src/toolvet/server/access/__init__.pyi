# The public names of this package; `__init__.py` loads each one when it is first used.

from toolvet.server.access.gate import Gate as Gate, Throttle as Throttle
from toolvet.server.access.oidc import OidcLogin as OidcLogin
from toolvet.server.access.people import (
    People as People,
    new_token as new_token,
    person_at_this_machine as person_at_this_machine,
    token_hash as token_hash,
)
from toolvet.server.access.session import (
    COOKIE as COOKIE,
    Sessions as Sessions,
)
