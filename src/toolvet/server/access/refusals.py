"""Refusals in the audit log: few enough that nobody can push out of it what others did."""

from contextlib import suppress
from typing import Final

from starlette.concurrency import run_in_threadpool
from starlette.requests import HTTPConnection

from toolvet.errors import StoreError
from toolvet.server.access.gate import address_of
from toolvet.server.access.throttle import Throttle
from toolvet.server.site import Site

_AT_ONCE: Final = 50
_A_SECOND: Final = 0.1


class RefusalQuota:
    """Says which refusals are written into the audit log: fifty at once for each action, then one in ten seconds."""

    def __init__(self) -> None:
        self._throttle = Throttle(_A_SECOND, _AT_ONCE)
        self._left_out: dict[str, int] = {}

    def admit(self, action: str) -> int | None:
        """Return how many were left out since the last one; None where this one is left out, too."""
        if self._throttle.wait(action):
            self._left_out[action] = self._left_out.get(action, 0) + 1
            return None
        return self._left_out.pop(action, 0)


async def note_refusal(
    site: Site, request: HTTPConnection, why: str, *, who: str = "", action: str = "refused"
) -> None:
    """Write down what was refused. It is refused as well where the store cannot be reached."""
    left_out = site.kept(RefusalQuota).admit(action)
    if left_out is None:
        return
    more = f" ({left_out:,} more before it)" if left_out else ""
    target = f"{request.scope.get('method', '')} {request.scope['path'][:200]}: {why}{more}"
    with suppress(StoreError):
        await run_in_threadpool(site.note, who, action, target, address=address_of(request))
