"""Errors without the flag: whether a success says in its text or structured content that the call failed.

Precision first: a log file, a document about errors, a record with an `error` column are payloads. So an error must be
the whole of the answer: a JSON object of an error's shape, a text that opens like an error report, or a short text
that says nothing else.

Known shapes of a JSON value: `{"error": …}`, `{"errors": […]}`, `success`/`ok` false, `status: "error"`, RFC 9457
problem details, JSON-RPC errors, google.rpc.Status, `code` and `message`, AWS (`__type`), FastAPI (`detail`), GitHub
(`documentation_url`), `"object": "error"` (Notion, Stripe), an HTML error page as the data. `error_shapes.toml` has the
members and their meaning.

Frameworks wrap what a tool returns: `{"result": "Error: no such user"}`, `{"result": {"success": false, …}}`. `unwrap`
opens that, and what is inside is judged like a value that nothing wraps.
"""

import ast
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Final, cast

import msgspec

from toolvet.core.checks.result.phrases import CallerText, ResultPhrases, Strength
from toolvet.core.checks.result.response import ToolResponse, list_of, object_of
from toolvet.core.discover.toml import read_toml
from toolvet.core.matching import Hit

_HEAD = 400
_SHORT = 200
_OPENING = 25
_LONGEST_REPORT = 4_000
_LONGEST_PROGRAM_OUTPUT = 40_000
_MOST_BLOCKS = 8
_CLOSING_QUOTES = "'\"`\u2019\u201d"
# Beyond this, a member of a JSON object is something to read.
_LARGE_MEMBER = 2_000
_MOST_KEYS = 16
_PAGE_OPENING = 20
_LOG_LINE = re.compile(
    r"^\W{0,2}(?:\d{4}-\d\d-\d\d|\d\d:\d\d:\d\d|(?:INFO|WARN(?:ING)?|DEBUG|ERROR|TRACE)\b)", re.MULTILINE
)
# `cat: a.txt: No such file or directory`, `Try 'cat --help' for more information.`
_DIAGNOSTIC = re.compile(r"[^\n]{1,300}?: |\s*(?:try|usage|see|for more|hint)\b|\s+-", re.IGNORECASE)
_MOST_LINES = 40
_NO_CODE = re.compile(r"^ *File \"[^\"\n]{1,300}\", line \d{1,7}\n(?:.{0,300}\n){1,3}SyntaxError: ", re.MULTILINE)
_EXIT_CODE = re.compile(r"\b(?:return|exit)[ _]?(?:code|status)\b:? (\d{1,3})\b", re.IGNORECASE)
_FEWEST_WORDS = 4
_LONG_WORD_LENGTH = 80
_LONG_WORD = re.compile(r"[^\s\"'{}<>]{80,}")
_MEMBERS = msgspec.json.Decoder(dict[str, msgspec.Raw])


def unflagged_error(response: ToolResponse, known: ResultPhrases, *, runs_programs: bool) -> str | None:
    """The text that reports an error, or None. `runs_programs` says that a traceback is the outcome of the call."""
    structured = response.structured
    if structured is not None and _value_reports(structured, known, runs_programs=runs_programs):
        return "\n".join(response.texts) or strings_of(structured)
    for text in response.texts[:_MOST_BLOCKS]:
        opening = text.lstrip()[:2]
        if opening[:1] == "{":
            # Structured content was judged already, and its text is usually the same.
            reported = structured is None and _object_reports(text, known, runs_programs=runs_programs)
        else:
            # A list is a payload, but `[ERROR]` is not a list.
            is_list = opening[:1] == "[" and not opening[1:].isalpha()
            reported = not is_list and _text_reports(text, known, runs_programs=runs_programs)
        if reported:
            return text
    return None


def _object_reports(text: str, known: ResultPhrases, *, runs_programs: bool) -> bool:
    """Whether a text that starts like a JSON object is an error; large members stay unread."""
    try:
        members = _MEMBERS.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        # Servers written in Python like to answer with `str(a_dict)`.
        if len(text) > _LARGE_MEMBER:
            return False
        try:
            value = cast("object", ast.literal_eval(text.strip()))
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            return False
        return _value_reports(value, known, runs_programs=runs_programs)
    if len(members) > _MOST_KEYS or not could_report(members):
        return False
    body: dict[str, object] = {}
    for key, raw in members.items():
        if len(raw) > _LARGE_MEMBER and "error" not in key.lower() and b"<" not in bytes(raw)[:_PAGE_OPENING]:
            return False
        try:
            body[key] = msgspec.json.decode(raw)
        except (msgspec.DecodeError, RecursionError):
            body[key] = None
    return _value_reports(body, known, runs_programs=runs_programs)


def _value_reports(value: object, known: ResultPhrases, *, runs_programs: bool) -> bool:
    """Whether a JSON object is an error, by itself or by what a framework wrapped into it."""
    if reports_error(value):
        return True
    inner = unwrap(value)
    if inner is value:
        return False
    if not isinstance(inner, str):
        return reports_error(inner)
    if inner.lstrip()[:1] == "{":
        return _object_reports(inner, known, runs_programs=runs_programs)
    if len(object_of(value) or ()) > 1 and len(inner.split()) < _FEWEST_WORDS:
        # Where another member says that there was no error, a word or two are what was asked for.
        return False
    return not inner.lstrip().startswith("[{") and _text_reports(inner, known, runs_programs=runs_programs)


def _may_have_long_word(text: str) -> bool:
    """Whether a long row of characters has no space: the expression starts again at each letter, and takes 30 us."""
    at = 0
    while at + _LONG_WORD_LENGTH <= len(text):
        space = text.rfind(" ", at, at + _LONG_WORD_LENGTH)
        if space < 0:
            return True
        at = space + 1
    return False


def _text_reports(text: str, known: ResultPhrases, *, runs_programs: bool) -> bool:
    if runs_programs and len(text) <= _LONGEST_PROGRAM_OUTPUT and _ended_badly(text):
        return True
    if len(text) > _LONGEST_PROGRAM_OUTPUT:
        return False
    # A value that is echoed at length hides a short report: "Document xxxx…xxxx.docx does not exist".
    is_shortened = _SHORT < len(text) <= _LONGEST_REPORT
    if is_shortened and _may_have_long_word(text[: _HEAD + _LONG_WORD_LENGTH]):
        text = _LONG_WORD.sub("\u2026", text)
    hits = known.scan(text[:_HEAD])
    if not hits:
        return False
    if is_shortened and _may_have_long_word(text):
        # Behind what was searched: most texts do not come this far.
        text = _LONG_WORD.sub("\u2026", text)
    if runs_programs and _is_diagnostic(text, hits, known):
        return True
    if any(known.by_id[hit.id].strength is Strength.INSTEAD for hit in hits) and "\n" not in text.strip():
        return False
    frames = [phrase for hit in hits if (phrase := known.by_id[hit.id]).strength is Strength.FRAME]
    if any(phrase.long for phrase in frames):
        return True
    if len(text) > _LONGEST_REPORT:
        return False
    if frames:
        # `Status Code: 200` with any page behind it, or `Errors: 0`.
        return not any(
            hit.end <= _OPENING and known.by_id[hit.id].strength is Strength.SUCCESS for hit in hits
        ) and not ("\n" in text and len(_LOG_LINE.findall(text, 0, _LONGEST_REPORT)) > 1)
    strengths = {known.by_id[hit.id].strength for hit in hits}
    # A page that was fetched speaks for itself.
    is_page = text.lstrip(' "\n\r\t').startswith("<")
    if is_page or len(text) > _SHORT or Strength.SUCCESS in strengths or "\n" in text.strip():
        return False
    # Words in quotation marks are talked about, not said.
    return any(
        known.by_id[hit.id].reports and not (hit.end < len(text) and text[hit.end] in _CLOSING_QUOTES) for hit in hits
    )


def _ended_badly(text: str) -> bool:
    """Whether the output of a program contains a traceback, code that does not compile, or at its end an exit code."""
    if "Traceback (most recent call last)" in text or ("SyntaxError: " in text and _NO_CODE.search(text) is not None):
        return True
    codes = _EXIT_CODE.findall(text, max(0, len(text) - _SHORT))
    if not codes or not codes[-1].strip("0"):
        return False
    # A search that found nothing, or a test that says no, ends with 1 and without a word.
    return codes[-1] != "1" or "\n" in text.strip()


def _is_diagnostic(text: str, hits: Sequence[Hit], known: ResultPhrases) -> bool:
    """Whether the output of a program is what it wrote on its error stream: its opening, and most of its lines."""
    opening = len(text) - len(text.lstrip())
    first_line = text.find("\n", opening)
    end = first_line if first_line >= 0 else len(text)
    if not any(hit.end <= end and known.by_id[hit.id].caller_text is CallerText.PROGRAM for hit in hits):
        return False
    lines = [line for line in text[:_LONGEST_REPORT].splitlines()[:_MOST_LINES] if line.strip()]
    return 2 * sum(_DIAGNOSTIC.match(line) is not None for line in lines) >= len(lines)


def strings_of(value: object) -> str:
    """The strings in a JSON value, a line each, in order; the first 200 of them."""
    found: list[str] = []
    pending = [value]
    for _ in range(2_000):
        if not pending or len(found) >= 200:
            break
        current = pending.pop()
        if isinstance(current, str):
            found.append(current)
        else:
            members = object_of(current)
            pending.extend(reversed(list_of(current) or (() if members is None else tuple(members.values()))))
    return "\n".join(found)


_MOST_MEMBERS = 16
_MOST_WRAPPING = 2
# Members of an error report that are neither the error nor its usual company.
_MOST_OTHERS = 2
_MOST_OTHERS_OF_A_STATUS = 4
# A record with one of these has an identity of its own: a job that failed, a ticket about an error.
_RECORD = frozenset(("id", "name", "title", "url", "created_at", "time"))
_LONGEST_OPENING = 200
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
    return "<" in text[:_LONGEST_OPENING] and _ERROR_PAGE.match(text[:_LONGEST_PAGE_HEAD]) is not None


def reports_error(value: object) -> bool:
    """Whether this JSON value, as a whole, says that the call failed."""
    members = object_of(value)
    if members is None or not 0 < len(members) <= _MOST_MEMBERS:
        return False
    shapes = _shapes()
    table = shapes.table
    body = {key.lower(): member for key, member in members.items() if type(key) is str}
    # Most payloads have none of these keys, and looking for each of them in turn takes 15 µs.
    if shapes.telling.isdisjoint(body):
        return False
    if any(body.get(flag) is True for flag in table.flags) or not table.verdicts.isdisjoint(body):
        return False
    others = sum(key not in shapes.companions for key in body)
    is_record = not _RECORD.isdisjoint(body)
    says_failed = body.get("object") == "error" or any(body.get(flag) is False for flag in table.flags)
    # A failure envelope is a failure, whatever its data holds; a list of errors may be what was asked for.
    says_why = says_failed and any(
        list_of(body.get(key)) is None and _speaks(body.get(key), table) for key in table.errors
    )
    if says_why and (others <= _MOST_OTHERS or not is_record):
        return True
    # Something to read beside the error: then it is a part of an answer, such as GraphQL's partial results.
    if any(key in body and _is_filled(body[key], table) for key in table.payloads):
        return False
    if others <= _MOST_OTHERS and any(
        isinstance(page := body.get(key), str) and is_error_page(page) for key in table.pages
    ):
        return True
    speaks = any(_speaks(body.get(key), table) for key in shapes.said_by)
    status = body.get("status")
    if isinstance(status, str) and status.lower() in table.failed:
        says_failed = says_failed or status.lower() == "error" or not is_record
    if says_failed or any(body.get(key) is True for key in ("error", "iserror", "is_error")):
        if others > _MOST_OTHERS and status == "error" and not is_record:
            return others <= _MOST_OTHERS_OF_A_STATUS
        return others <= _MOST_OTHERS and (speaks or len(body) == 1)
    if any(_speaks(body.get(key), table) for key in table.errors):
        return others <= _MOST_OTHERS
    return others == 0 and speaks and _is_problem(body, table)


def _is_filled(value: object, known: _BodyTable) -> bool:
    members = object_of(value)
    if members is not None:
        return any(member is not None for member in members.values()) and not _speaks(members.get("error"), known)
    items = list_of(value)
    if items is not None:
        # A list of nothing but failures is not a payload.
        return any(not _speaks((object_of(item) or {}).get("error"), known) for item in items[:_MOST_MEMBERS])
    return isinstance(value, str) and len(value) > _LONGEST_OPENING and not is_error_page(value)


def _speaks(value: object, known: _BodyTable) -> bool:
    """An error that says something: no null, no empty list, no count."""
    if isinstance(value, str):
        return value.strip().lower() not in known.nothing
    items = list_of(value)
    if items is not None:
        return bool(items) and type(items[0]) in (str, dict)
    return bool(object_of(value))


_CODE: Final = re.compile(r"-?\d{1,7}")


def _is_problem(body: Mapping[str, object], known: _BodyTable) -> bool:
    """Problem details, status objects and the like: an error by the keys that occur together."""
    code = next((body[key] for key in known.codes if body.get(key) is not None), None)
    number = int(code) if isinstance(code, str) and _CODE.fullmatch(code) else code
    if type(number) is int and (400 <= number < 600 or -32999 <= number <= -32000):
        return True
    # A status in lower case is a word about the thing; in upper case it is the name of an error (google.rpc.Status).
    if (
        isinstance(code, str)
        and (code.isupper() or "status" not in body)
        and any(word in code.lower() for word in known.code_words)
    ):
        return True
    if any(key in body for key in ("__type", "documentation_url", "error_type", "errortype")):
        return True
    kind = body.get("type")
    if "title" in body and "detail" in body and isinstance(kind, str) and ":" in kind:
        return True
    # FastAPI and Django answer with nothing but the detail.
    return len(body) == 1 and "detail" in body
