r"""The border between what a server sent and what a finding says: foreign words and values enter a sentence here only.

They leave short, on one line and without secrets. Secrets are removed before anything is cut, because half a secret no
longer looks like one:

    quote("cannot connect to postgres://app:hunter2@db/x\n  retry later", 52)
        redacted   "cannot connect to postgres://[redacted]@db/x\n  retry later"
        one line   "cannot connect to postgres://[redacted]@db/x retry later"
        cut        "cannot connect to postgres://[redacted]@db/x retry…"
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Final, cast

from toolvet.assess.rules.fault import at_pointer
from toolvet.core.json_value import members
from toolvet.core.redact import redact, redact_text
from toolvet.core.schema import SchemaProblem
from toolvet.core.tool_rules import HttpExchange, ObservedCall, ObservedHttp, ObservedServer
from toolvet.findings import Card, Finding

_ESCAPE: Final = re.compile(r"\x1b(?:\[[0-?]{0,20}[ -/]{0,5}[@-~]?)?")
_LONGEST_SENT: Final = 1_000  # Characters of a text that was sent, of which the beginning says enough.
_DEPTH: Final = 3  # Levels of a JSON value that are shown.
_ITEMS: Final = 5  # Members or items of a JSON value that are shown on each level.
_HUGE: Final = 10**40  # From here on an integer is not printed: Python refuses those of thousands of digits.
_MOST_QUOTED: Final = 3  # Of several texts of one kind.
_SCHEMA_TYPES: Final = "array, boolean, integer, null, number, object, string"
_JSON_TYPES: Final[Mapping[type, str]] = {str: "a string", dict: "an object", list: "an array"}
# From the SDKs' own documentation: FastMCP 4 (`run`, `http_app`), the Python SDK 2 (`run`, `streamable_http_app`), and
# the TypeScript SDK 1 (`server/express`, `server/middleware/hostHeaderValidation`).
_SETTINGS: Final = {
    "fastmcp": (
        'FastMCP 4: `mcp.run(transport="http", host_origin_protection="auto")`, or the environment variable '
        "FASTMCP_HTTP_HOST_ORIGIN_PROTECTION=auto; `allowed_origins` names the web sites that may use it. Before: "
        '`mcp.run(transport="http", middleware=[Middleware(TrustedHostMiddleware, allowed_hosts=[…])])` checks Host.'
    ),
    "python": (
        "Python SDK: serve on host 127.0.0.1 without `transport_security` of your own, or pass "
        "`TransportSecuritySettings(enable_dns_rebinding_protection=True, allowed_hosts=[…], allowed_origins=[…])`. "
        "In an app of your own, Starlette's `TrustedHostMiddleware` checks Host."
    ),
    "typescript": (
        "TypeScript SDK: `createMcpExpressApp()`, or the middleware `localhostHostValidation()`, checks Host; a "
        "middleware of your own that answers 403 checks Origin."
    ),
}


def quote(text: str, limit: int = 200) -> str:
    """The words of `text` on one line, cut behind a word with an ellipsis; no control characters, no secrets. Total."""
    # White space folds, so more than is shown must be looked at; 20 times is plenty, and keeps huge texts cheap.
    return _fold(redact_text(_ESCAPE.sub("", text[: 20 * limit])), limit)


def quote_each(texts: Sequence[str]) -> str:
    """The first three different texts in quotation marks, and how many more there are."""
    different = list(dict.fromkeys(texts))
    more = f" and {len(different) - _MOST_QUOTED} more" if len(different) > _MOST_QUOTED else ""
    return "; ".join(f'"{quote(words, 120)}"' for words in different[:_MOST_QUOTED]) + more


def quote_problem(schema: Mapping[str, object], problem: SchemaProblem) -> str:
    """Why a schema cannot be used, in a sentence with the place.

    A meta-schema's message about its own branches ('anyOf' keyword) helps no author: then the value itself is quoted.
    """
    words = quote(problem.message).rstrip(".")
    if problem.kind == "invalid" and "'anyOf' keyword" in problem.message and problem.pointer:
        value = show(at_pointer(schema, problem.pointer), 60)
        wanted = f"; the types are {_SCHEMA_TYPES}" if problem.pointer.endswith("/type") else ""
        words = f"{value} is not a legal value{wanted}"
    place = f" at {quote(problem.pointer, 80)}" if problem.pointer else ""
    return f"{words}{place}."


def show(value: object, limit: int = 80) -> str:
    """A JSON value as JSON, cut to `limit` characters, without secrets. Total: any depth and size will do."""
    return _fold(_ESCAPE.sub("", _render_json(redact(value), _DEPTH, limit)), limit)


def show_sent(call: ObservedCall, value: object, limit: int = 160) -> str:
    """The arguments of a call or a value of them as JSON; a very long text by its length. Total.

    Values that toolvet made up are shown as they are, so that a reader can send them again.
    """
    return _fold(_render_json(value if call.is_own else redact(value), _DEPTH, limit, describe_long), limit)


def describe_long(text: str) -> str:
    """A text as it is, or, if it is very long, `a text of 1,000,000 characters`."""
    return text if len(text) <= _LONGEST_SENT else f"a text of {len(text):,} characters"


def show_answer(result: object, limit: int = 160) -> str:
    """A tool result as JSON, without what says nothing about the answer (`_meta`, `resultType`). Total."""
    kept = {name: value for name, value in members(result).items() if name not in {"_meta", "resultType"}}
    return show(kept or result, limit)


def list_names(names: Sequence[str], most: int = 8) -> str:
    """Names for a sentence: 'a', 'b' and 3 more."""
    shown = [f"'{quote(name, 60)}'" for name in names[:most]]
    if len(names) > most:
        return f"{', '.join(shown)} and {len(names) - most} more"
    return " and ".join(part for part in (", ".join(shown[:-1]), shown[-1] if shown else "") if part)


def _fold(text: str, limit: int) -> str:
    words = " ".join(text.split())
    clean = "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in words[: limit + 1])
    if len(words) <= limit:
        return clean
    kept = clean[: limit - 1]
    space = kept.rfind(" ")
    return (kept[:space] if space > limit * 2 // 3 else kept) + "…"


def _render_json(value: object, depth: int, limit: int, describe: Callable[[str], str] = str) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case str() if (words := describe(value)) != value:
            return words
        case str():
            return f'"{value[:limit]}{"…" if len(value) > limit else ""}"'
        case float():
            return repr(value)
        case int():
            return str(value) if abs(value) < _HUGE else "a huge integer"
        case Mapping():
            entries = cast("Mapping[object, object]", value)
            parts = [
                f"{_render_json(key, 0, limit)}: {_render_json(entry, depth - 1, limit, describe)}"
                for key, entry in islice(entries.items(), _ITEMS if depth > 0 else 0)
            ]
            return _enclose("{}", parts, len(entries))
        case list() | tuple():
            items = cast("list[object] | tuple[object, ...]", value)
            parts = [_render_json(item, depth - 1, limit, describe) for item in items[: _ITEMS if depth > 0 else 0]]
            return _enclose("[]", parts, len(items))
        case _:
            return f"<{type(value).__name__}>"


def _enclose(brackets: str, parts: list[str], count: int) -> str:
    return f"{brackets[0]}{', '.join([*parts, '…'] if count > len(parts) else parts)}{brackets[1]}"


def judge_types(card: Card, entry: Mapping[str, object], types: Mapping[str, type]) -> Iterator[Finding]:
    """Yield a finding for each field with a value of another type; `null` is as good as absent."""
    for field, wanted in types.items():
        value = entry.get(field)
        if value is not None and not isinstance(value, wanted):
            yield card.finding(
                message=f"'{field}' must be {_JSON_TYPES[wanted]}.", pointer=f"/{field}", evidence=show(value)
            )


def repeated_entries(named: Iterable[tuple[str, int]]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield each name that comes more than once among (name, position), with the numbers of its entries.

    >>> list(repeated_entries([("plan", 0), ("review", 1), ("plan", 2), ("", 3), ("", 4)]))
    [('plan', ('1', '3'))]
    """
    places: dict[str, list[str]] = {}
    for name, position in named:
        if name:
            places.setdefault(name, []).append(str(position + 1))
    for name, entries in places.items():
        if len(entries) > 1:
            yield name, tuple(entries)


def exchange_of(server: ObservedServer, probe: str) -> HttpExchange | None:
    """The exchange of this probe; None if it was not sent."""
    return None if server.http is None else server.http.find(probe)


def exchanges_of(server: ObservedServer) -> Sequence[HttpExchange]:
    """All probes with their responses; none for a server that does not speak HTTP."""
    return () if server.http is None else server.http.exchanges


def protection_setting(http: ObservedHttp) -> str | None:
    """How to switch the checks of Host and Origin on in this server's SDK; None if the SDK is not known."""
    return _SETTINGS.get(http.sdk)


def describe(exchange: HttpExchange) -> str:
    """The response, as the end of a sentence: `HTTP 400 with error -32600 "Missing session ID"`."""
    if exchange.status is None:
        return f"no response ({quote(exchange.failure, 80) or 'unknown'})"
    status = f"HTTP {exchange.status}"
    if exchange.is_result:
        return f"{status} and a result"
    if exchange.code is not None:
        return f'{status} with error {exchange.code} "{quote(exchange.words, 80)}"'
    if exchange.body.strip():
        return f'{status} and "{quote(exchange.body, 60)}"'
    return status
