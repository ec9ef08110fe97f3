"""Numbers, times and paths as pages write them; filters of the templates.

Names of servers and tools may have any characters, and become segments of a path:

io.github/files → /server/io.github~1files       (`/` is written `~1` and `~` is `~0`, as in a JSON Pointer, RFC 6901)
"""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, Final
from urllib.parse import quote, urlencode

from markupsafe import Markup

_PERCENT: Final = 100
_WHOLE: Final = 10
_MINUTE: Final = 60
NOTHING: Final = "\u2013"


def number(value: float | None) -> str:
    """Return a count.

    >>> number(12345)
    '12,345'
    """
    return NOTHING if value is None else f"{value:,.0f}"


def percent(share: float | None) -> str:
    """Return a share (0 to 1), with one place below ten per cent.

    >>> [percent(share).split() for share in (0.0123, 0.5)]
    [['1.2', '%'], ['50', '%']]
    """
    if share is None:
        return NOTHING
    value = share * _PERCENT
    return f"{value:.0f}\u00a0%" if value == 0 or value >= _WHOLE else f"{value:.1f}\u00a0%"


def points(difference: float | None) -> str:
    """Return a difference of shares, in points of a hundred.

    >>> points(0.054).split()
    ['5.4', 'points']
    """
    return NOTHING if difference is None else f"{difference * _PERCENT:.1f}".removesuffix(".0") + "\u00a0points"


def score(value: float | None) -> str:
    """Return a score (0 to 1).

    >>> score(0.875)
    '0.88'
    """
    return NOTHING if value is None else f"{value:.2f}"


def seconds(value: float | None) -> str:
    """Return a duration.

    >>> [" ".join(seconds(value).split()) for value in (0.0042, 0.25, 2.5, 90)]
    ['4.2 ms', '250 ms', '2.5 s', '1.5 min']
    """
    if value is None:
        return NOTHING
    if value >= _MINUTE:
        return f"{value / _MINUTE:.1f}\u00a0min"
    if value >= 1:
        return f"{value:.1f}\u00a0s"
    return f"{value * 1000:.0f}\u00a0ms" if value * 1000 >= _WHOLE or value == 0 else f"{value * 1000:.1f}\u00a0ms"


def when(at: float) -> Markup:
    """Return a time as an element `time` in UTC; site.js shows it in the reader's own time zone."""
    try:
        moment = datetime.fromtimestamp(at, UTC)
    except (ValueError, OverflowError, OSError):
        return Markup(NOTHING)  # noqa: S704 - ours
    return Markup('<time datetime="{}">{}</time>').format(
        moment.isoformat(timespec="milliseconds"), moment.strftime("%Y-%m-%d %H:%M:%S")
    )


def date(at: float) -> str:
    """Return a time to the minute, in UTC, where no element fits.

    >>> date(0)
    '1970-01-01 00:00'
    """
    try:
        return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M")
    except (ValueError, OverflowError, OSError):
        return NOTHING


# Findings about arguments are named after keywords of JSON Schema, which say little to those who do not write schemas.
_WORDS: Final[Mapping[str, str]] = {
    "type": "wrong type",
    "enum": "value not in the list",
    "const": "not the one allowed value",
    "required": "argument missing",
    "additionalProperties": "unknown argument",
    "unevaluatedProperties": "unknown argument",
    "propertyNames": "wrong name of an argument",
    "minLength": "text too short",
    "maxLength": "text too long",
    "pattern": "text of the wrong form",
    "format": "text of the wrong form",
    "minimum": "number too small",
    "exclusiveMinimum": "number too small",
    "maximum": "number too large",
    "exclusiveMaximum": "number too large",
    "multipleOf": "number not a multiple",
    "minItems": "too few items",
    "maxItems": "too many items",
    "uniqueItems": "item twice",
    "anyOf": "fits no variant",
    "oneOf": "fits no variant, or several",
    "error_without_flag": "error not flagged as one",
    "leak": "internals in the result",
}


def words(name: str) -> str:
    """Return the name of a type as words.

    >>> words("tool_error"), words("enum")
    ('tool error', 'value not in the list')
    """
    return _WORDS.get(name) or name.replace("_", " ")


FILTERS: Final[Mapping[str, Callable[..., Any]]] = {
    "number": number,
    "percent": percent,
    "points": points,
    "score": score,
    "seconds": seconds,
    "when": when,
    "date": date,
    "words": words,
}


# A path is not allowed to have an empty segment, and browsers resolve these.
_ODD: Final = {"": "~", ".": "~2", "..": "~2~2"}
_ODD_BACK: Final = {written: name for name, written in _ODD.items()}


def segment(name: str) -> str:
    """Return a name as one segment of a path.

    >>> segment("io.github/files")
    'io.github~1files'
    """
    return _ODD.get(name) or quote(name.replace("~", "~0").replace("/", "~1"), safe="~", errors="replace")


def read_segment(written: str) -> str:
    """Return the name that `segment` wrote, after the server decoded the path.

    >>> read_segment("io.github~1files")
    'io.github/files'
    """
    return _ODD_BACK[written] if written in _ODD_BACK else written.replace("~1", "/").replace("~0", "~")


def tool_path(server: str, tool: str) -> str:
    """Return the path of a tool's page."""
    return f"/tool/{segment(server)}/{segment(tool)}"


def server_path(server: str) -> str:
    """Return the path of a server's page."""
    return f"/server/{segment(server)}"


def turn_path(trace: str) -> str:
    """Return the path of a turn's page."""
    return f"/turn/{segment(trace)}"


def conversation_path(conversation: str) -> str:
    """Return the path of a conversation's page."""
    return f"/conversation/{segment(conversation)}"


def queried(path: str, query: Mapping[str, object], **changes: object) -> str:
    """Return a path with a query: `query` with these changes; members that are None or empty are left out.

    >>> queried("/verdicts", {"kind": "call", "page": "2"}, page=None, tool="find book")
    '/verdicts?kind=call&tool=find+book'
    """
    members = {name: value for name, value in {**query, **changes}.items() if value is not None and value != ""}
    written = urlencode({name: f"{value}".encode("utf-8", "replace") for name, value in members.items()})
    return f"{path}?{written}" if written else path
