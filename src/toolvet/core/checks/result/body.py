"""Does a JSON value report an error? Judged by its shape, so that a payload that merely mentions errors is none.

Known shapes: `{"error": …}`, `{"errors": […]}`, `success`/`ok` false, `status: "error"`, RFC 9457 problem details,
JSON-RPC errors, google.rpc.Status, `code` and `message`, AWS (`__type`), FastAPI (`detail`), GitHub
(`documentation_url`), `"object": "error"` (Notion, Stripe), an HTML error page as the data. `error_shapes.toml` has the
members and their meaning.

Frameworks wrap what a tool returns: `{"result": "Error: no such user"}`, `{"result": {"success": false, …}}`. `unwrap`
opens that, and what is inside is judged like a value that nothing wraps.
"""

import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Final

import msgspec

from toolvet.core.checks.result.plain import list_of, object_of
from toolvet.core.discover.toml import read_toml

_MOST_KEYS = 16
_MOST_WRAPPING = 2
# Members of an error report that are neither the error nor its usual company.
_MOST_OTHERS = 2
_MOST_OTHERS_OF_A_STATUS = 4
# A record with one of these has an identity of its own: a job that failed, a ticket about an error.
_RECORD = ("id", "name", "title", "url", "created_at", "time")
_SHORT = 200
_LONGEST_PAGE_HEAD: Final = 4_000
# A page that a web server sends instead of an answer: its title or first heading is the error.
_ERROR_PAGE: Final = re.compile(
    r"\s*(?:<\?xml[^>]*>\s*)?<(?:!doctype html|html|head|body)\b[^\0]{0,2000}?<(?:title|h1)[^>]*>\s*"
    r"(?:error\b\W{0,3})?"
    r"(?:[45]\d\d\b|error\b|bad request|unauthori[sz]ed|forbidden|access denied|(?:page )?not found|bad gateway"
    r"|gateway time-?out|internal server error|service (?:temporarily )?unavailable|attention required"
    r"|too many requests)",
    re.IGNORECASE,
)


class _BodyTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    errors: tuple[str, ...]
    words: tuple[str, ...]
    flags: tuple[str, ...]
    codes: tuple[str, ...]
    companions: frozenset[str]
    payloads: tuple[str, ...]
    wrappers: frozenset[str]
    boxes: frozenset[str]
    pages: tuple[str, ...]
    verdicts: frozenset[str]
    failed: frozenset[str]
    nothing: frozenset[str]
    code_words: tuple[str, ...]


class _Shapes(msgspec.Struct, frozen=True):
    """The table, and what is derived from it."""

    table: _BodyTable
    said_by: tuple[str, ...]
    companions: frozenset[str]
    telling: frozenset[str]


@cache
def _shapes() -> _Shapes:
    found = read_toml("toolvet.core.checks.result", "error_shapes.toml", _BodyTable)
    said_by = (*found.errors, *found.words)
    known = frozenset((*said_by, *found.flags, *found.codes))
    telling = known | found.wrappers | found.boxes | {"__type", "is_error", "iserror", "object"}
    return _Shapes(found, said_by, known | found.companions, telling)


def could_report(keys: Iterable[str]) -> bool:
    """Whether an object with these keys needs a closer look: most payloads do not, and are not decoded."""
    telling = _shapes().telling
    return any(key.lower() in telling for key in keys)


def unwrap(value: object) -> object:
    """The value inside `{"result": …}`, as frameworks wrap what is not an object; any other value comes back itself.

    A member beside it that says that there was no error (`{"error": "", "response": …}`) is part of the wrapping.
    """
    body = object_of(value)
    if body is None or not 0 < len(body) <= _MOST_WRAPPING:
        return value
    table = _shapes().table
    filled = [item for item in body.items() if item[0] not in table.errors or _speaks(item[1], table)]
    if len(filled) != 1:
        return value
    key, inner = filled[0]
    return inner if key in table.boxes or (isinstance(inner, str) and key in table.wrappers) else value


def is_error_page(text: str) -> bool:
    """Whether this is an HTML page whose title or first heading is an error."""
    return "<" in text[:_SHORT] and _ERROR_PAGE.match(text[:_LONGEST_PAGE_HEAD]) is not None


def reports_error(value: object) -> bool:
    """Whether this JSON value, as a whole, says that the call failed."""
    members = object_of(value)
    if members is None or not 0 < len(members) <= _MOST_KEYS:
        return False
    shapes = _shapes()
    body = {key.lower(): member for key, member in members.items() if type(key) is str}
    # Most payloads have none of these keys, and looking for each of them in turn takes 15 µs.
    if shapes.telling.isdisjoint(body):
        return False
    if any(body.get(flag) is True for flag in shapes.table.flags) or not shapes.table.verdicts.isdisjoint(body):
        return False
    others = sum(key not in shapes.companions for key in body)
    # A failure envelope is a failure, whatever its data holds.
    if _is_failure_envelope(body, shapes.table) and (others <= _MOST_OTHERS or not any(key in body for key in _RECORD)):
        return True
    if _carries_payload(body, shapes.table):
        return False
    if others <= _MOST_OTHERS and any(_is_page(body.get(key)) for key in shapes.table.pages):
        return True
    speaks = any(_speaks(body.get(key), shapes.table) for key in shapes.said_by)
    if _says_failed(body, shapes.table):
        if others > _MOST_OTHERS and body.get("status") == "error" and not any(key in body for key in _RECORD):
            return others <= _MOST_OTHERS_OF_A_STATUS
        return others <= _MOST_OTHERS and (speaks or len(body) == 1)
    if any(_speaks(body.get(key), shapes.table) for key in shapes.table.errors):
        return others <= _MOST_OTHERS
    return others == 0 and speaks and _is_problem(body, shapes.table)


def _is_failure_envelope(body: Mapping[str, object], known: _BodyTable) -> bool:
    """Whether a flag says that it failed and a member says why; a list of errors may be what was asked for."""
    if body.get("object") != "error" and not any(body.get(flag) is False for flag in known.flags):
        return False
    return any(list_of(body.get(key)) is None and _speaks(body.get(key), known) for key in known.errors)


def _is_page(value: object) -> bool:
    return isinstance(value, str) and is_error_page(value)


def _says_failed(body: Mapping[str, object], known: _BodyTable) -> bool:
    if any(body.get(flag) is False for flag in known.flags):
        return True
    if any(body.get(key) is True for key in ("error", "iserror", "is_error")) or body.get("object") == "error":
        return True
    status = body.get("status")
    if not isinstance(status, str) or status.lower() not in known.failed:
        return False
    return status.lower() == "error" or not any(key in body for key in _RECORD)


def _carries_payload(body: Mapping[str, object], known: _BodyTable) -> bool:
    """Something to read beside the error: then it is a part of an answer, such as GraphQL's partial results."""
    return any(key in body and _is_filled(body[key], known) for key in known.payloads)


def _is_filled(value: object, known: _BodyTable) -> bool:
    members = object_of(value)
    if members is not None:
        return any(member is not None for member in members.values()) and not _speaks(members.get("error"), known)
    items = list_of(value)
    if items is not None:
        # A list of nothing but failures is not a payload.
        return any(not _is_failed_item(item, known) for item in items[:_MOST_KEYS])
    return isinstance(value, str) and len(value) > _SHORT and not is_error_page(value)


def _is_failed_item(item: object, known: _BodyTable) -> bool:
    members = object_of(item)
    return members is not None and _speaks(members.get("error"), known)


def _speaks(value: object, known: _BodyTable) -> bool:
    """An error that says something: no null, no empty list, no count."""
    if isinstance(value, str):
        return value.strip().lower() not in known.nothing
    items = list_of(value)
    if items is not None:
        return bool(items) and type(items[0]) in (str, dict)
    return bool(object_of(value))


def _is_problem(body: Mapping[str, object], known: _BodyTable) -> bool:
    """Problem details, status objects and the like: an error by the keys that occur together."""
    code = next((body[key] for key in known.codes if body.get(key) is not None), None)
    if _is_error_number(code):
        return True
    # A status in lower case is a word about the thing; in upper case it is the name of an error (google.rpc.Status).
    if isinstance(code, str) and (code.isupper() or "status" not in body) and _names_error(code, known):
        return True
    if any(key in body for key in ("__type", "documentation_url", "error_type", "errortype")):
        return True
    kind = body.get("type")
    if "title" in body and "detail" in body and isinstance(kind, str) and ":" in kind:
        return True
    # FastAPI and Django answer with nothing but the detail.
    return len(body) == 1 and "detail" in body


def _names_error(code: str, known: _BodyTable) -> bool:
    return any(word in code.lower() for word in known.code_words)


def _is_error_number(code: object) -> bool:
    if isinstance(code, str) and code.lstrip("-").isdecimal() and len(code) < 8:
        code = int(code)
    return type(code) is int and (400 <= code < 600 or -32999 <= code <= -32000)
