"""All pages of `tools/list`, and what was wrong with them. One illegal tool hides no other."""

from collections.abc import Awaitable, Iterable
from dataclasses import dataclass, replace
from typing import Protocol, cast

from toolvet.transport.quote import printable
from toolvet.transport.reply import Answer, ConnectionLost, Malformed, Oddity, Reply, RpcError, TimedOut
from toolvet.transport.shape import fields

MAX_PAGES = 1000


@dataclass(frozen=True)
class Listing:
    """`tools` as the server sent them, any JSON values, of `pages` pages; `problems` in the order they were met.

    `failure` is the reply that ended the listing early, None when all pages came.
    """

    tools: tuple[object, ...]
    pages: int
    problems: tuple[Oddity, ...] = ()
    failure: Reply | None = None

    def with_problems(self, problems: Iterable[Oddity]) -> "Listing":
        """The same with more problems."""
        return replace(self, problems=(*self.problems, *problems))


class Ask(Protocol):
    """`Session.request`."""

    def __call__(self, method: str, params: object = None, *, timeout: float | None = None) -> Awaitable[Reply]:
        """Send a request."""
        ...


async def read_tools(ask: Ask, *, timeout: float | None = None) -> Listing:  # noqa: ASYNC109 - see Session.request.
    """Follow `nextCursor` until it is missing: an empty string is a cursor (server/utilities/pagination)."""
    tools: list[object] = []
    problems: list[Oddity] = []
    cursors: set[str] = set()
    cursor: str | None = None
    for page in range(MAX_PAGES):
        reply = await ask("tools/list", None if cursor is None else {"cursor": cursor}, timeout=timeout)
        if not isinstance(reply, Answer):
            problems.append(Oddity("page_failed", f"page {page + 1}: {in_words(reply)}"))
            return Listing(tuple(tools), page, tuple(problems), reply)
        result = fields(reply.result)
        found = result.get("tools")
        if isinstance(found, list):
            tools += cast("list[object]", found)
        else:
            problems.append(Oddity("bad_page", f"page {page + 1}: {printable(reply.raw, 200)}"))
        following = result.get("nextCursor")
        if following is None:
            if "nextCursor" in result:
                problems.append(Oddity("bad_cursor", f"page {page + 1}: nextCursor is null instead of missing"))
            return Listing(tuple(tools), page + 1, tuple(problems))
        if not isinstance(following, str):
            problems.append(Oddity("bad_cursor", f"page {page + 1}: nextCursor is {printable(repr(following), 100)}"))
            return Listing(tuple(tools), page + 1, tuple(problems))
        if following in cursors:
            problems.append(Oddity("cursor_cycle", f"page {page + 1}: {printable(repr(following), 100)} came before"))
            return Listing(tuple(tools), page + 1, tuple(problems))
        cursors.add(following)
        cursor = following
    problems.append(Oddity("too_many_pages", f"after {MAX_PAGES} pages there is still a next one"))
    return Listing(tuple(tools), MAX_PAGES, tuple(problems))


def in_words(reply: Reply) -> str:
    """What came of a request, as the end of a sentence."""
    match reply:
        case Answer():
            return f"answered {printable(reply.raw, 200)}"
        case RpcError():
            return f'refused with {reply.code} "{printable(reply.message, 200)}"'
        case TimedOut():
            return f"no answer within {reply.duration:.3g} s"
        case ConnectionLost():
            ending = "" if reply.exit_code is None else f" with exit code {reply.exit_code}"
            return f"{reply.reason}{ending}"
        case Malformed():
            return f"answered with what is no JSON-RPC: {reply.reason}"
