"""All pages of a list, and what was wrong with them. An illegal entry does not hide the others."""

from collections.abc import Awaitable, Container, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final, Protocol

from toolvet.core.json_value import is_array, members
from toolvet.mcp.transport.quote import printable
from toolvet.mcp.transport.reply import Anomaly, Answer, Malformed, Reply, describe_reply
from toolvet.mcp.wire import without_half_characters

MAX_PAGES: Final = 1000
# Entries of one list that are kept: no client can offer so many to a model, and what is judged must end.
MAX_ENTRIES: Final = 20_000
# Bytes of all pages of a list together.
MAX_BYTES: Final = 64 * 1024 * 1024


@dataclass(frozen=True)
class Listing:
    """The tools of a server, or what else it lists, and what was wrong with the pages.

    `tools` are any JSON values, as the server sent them; `pages` counts the pages, `problems` are in the order of
    reading. `failure` is the reply that ended the listing early, None when all pages came.
    """

    tools: tuple[object, ...]
    pages: int
    problems: tuple[Anomaly, ...] = ()
    failure: Reply | None = None

    def with_problems(self, problems: Iterable[Anomaly]) -> "Listing":
        """Return the same listing with more problems."""
        return replace(self, problems=(*self.problems, *problems))


class Ask(Protocol):
    """The type of `McpSession.request`, which reads the pages."""

    def __call__(self, method: str, params: object = None, *, timeout: float | None = None) -> Awaitable[Reply]:
        """Send a request and return its reply."""
        ...


async def read_list(
    ask: Ask,
    method: str = "tools/list",
    member: str = "tools",
    *,
    timeout: float | None = None,  # noqa: ASYNC109 - see Peer.request.
    gathered: list[object] | None = None,
) -> Listing:
    """Return the entries of a list, following `nextCursor` until it is missing.

    At most `MAX_PAGES` pages with `MAX_ENTRIES` entries and `MAX_BYTES` bytes are read; a list with more has a problem
    that says so. An empty string is a cursor, too (specification, server/utilities/pagination).

    Args:
        ask: Sends a request.
        method: The method that lists them.
        member: Where the result has them: `resources/list` has `resources`.
        timeout: Seconds for each page, None for no end.
        gathered: Receives the entries page by page, for a caller that may be cancelled before the last page.
    """
    tools: list[object] = [] if gathered is None else gathered
    read = 0
    problems: list[Anomaly] = []
    cursors: set[str] = set()
    cursor: str | None = None
    for page in range(MAX_PAGES):
        reply = await ask(method, None if cursor is None else {"cursor": cursor}, timeout=timeout)
        if isinstance(reply, Malformed) and (mended := _mended(reply)) is not None:
            evidence = f"page {page + 1} contains half of a surrogate pair, which is no character"
            problems.append(Anomaly("half_character", evidence))
            reply = mended
        if not isinstance(reply, Answer):
            problems.append(Anomaly("page_failed", f"page {page + 1}: {describe_reply(reply)}"))
            return Listing(tuple(tools), page, tuple(problems), reply)
        result = members(reply.result)
        found = result.get(member)
        if is_array(found):
            tools += found
        else:
            problems.append(Anomaly("bad_page", f"page {page + 1}: {printable(reply.raw, 200)}"))
        read += len(reply.raw)
        if too_many := _explain_excess(len(tools), read, more="nextCursor" in result):
            del tools[MAX_ENTRIES:]
            problems.append(Anomaly("too_many_entries", too_many))
            return Listing(tuple(tools), page + 1, tuple(problems))
        cursor, problem = _next_cursor(result, cursors)
        if problem is not None:
            problems.append(Anomaly(problem.kind, f"page {page + 1}: {problem.evidence}"))
        if cursor is None:
            return Listing(tuple(tools), page + 1, tuple(problems))
        cursors.add(cursor)
    problems.append(Anomaly("too_many_pages", f"after {MAX_PAGES} pages there is still a next one"))
    return Listing(tuple(tools), MAX_PAGES, tuple(problems))


def _mended(reply: Malformed) -> Answer | None:
    """Return a reply without its halves of characters, if that is all its fault: one tool must not hide the others."""
    result = without_half_characters(reply.raw)
    return None if result is None else Answer(result=result, raw=reply.raw, duration=reply.duration)


def _next_cursor(result: Mapping[str, object], seen: Container[str]) -> tuple[str | None, Anomaly | None]:
    """Return the cursor of the next page, None where there is none to ask for, and what is wrong with it."""
    following = result.get("nextCursor")
    if following is None:
        return None, Anomaly("bad_cursor", "nextCursor is null instead of missing") if "nextCursor" in result else None
    if not isinstance(following, str):
        return None, Anomaly("bad_cursor", f"nextCursor is {printable(repr(following), 100)}")
    if following in seen:
        return None, Anomaly("cursor_cycle", f"{printable(repr(following), 100)} came before")
    return following, None


def _explain_excess(entries: int, read: int, *, more: bool) -> str:
    """Return why no further page is read, or "" when nothing speaks against it; `more` says that there is one."""
    if entries > MAX_ENTRIES or (entries == MAX_ENTRIES and more):
        return f"more than {MAX_ENTRIES:,} entries; only the first {MAX_ENTRIES:,} were read"
    if read > MAX_BYTES and more:
        return f"more than {MAX_BYTES // 2**20} MiB; only the first {entries:,} entries were read"
    return ""
