"""Errors without the flag: whether a success says in its text or structured content that the call failed.

Precision first: a log file, a document about errors, a record with an `error` column are payloads. So an error must be
the whole of the answer: a JSON object of an error's shape, a text that opens like an error report, or a short text
that says nothing else.
"""

import ast
import re
from collections.abc import Sequence
from typing import cast

import msgspec

from toolvet.core.checks.result.body import could_report, reports_error, unwrap
from toolvet.core.checks.result.phrases import CallerText, ResultPhrases, Strength
from toolvet.core.checks.result.plain import list_of, object_of
from toolvet.core.checks.result.response import ToolResponse
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
        return _python_object_reports(text, known, runs_programs=runs_programs)
    if len(members) > _MOST_KEYS or not could_report(members):
        return False
    body: dict[str, object] = {}
    for key, raw in members.items():
        if len(raw) > _LARGE_MEMBER and "error" not in key.lower() and b"<" not in bytes(raw)[:_PAGE_OPENING]:
            return False
        body[key] = _decoded(raw)
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


def _decoded(raw: msgspec.Raw) -> object:
    try:
        return cast("object", msgspec.json.decode(raw))
    except (msgspec.DecodeError, RecursionError):
        return None


def _python_object_reports(text: str, known: ResultPhrases, *, runs_programs: bool) -> bool:
    """Servers written in Python like to answer with `str(a_dict)`."""
    if len(text) > _LARGE_MEMBER:
        return False
    try:
        value = cast("object", ast.literal_eval(text.strip()))
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return False
    return _value_reports(value, known, runs_programs=runs_programs)


def _may_have_long_word(text: str) -> bool:
    """Whether so many characters in a row have no space: the expression begins anew at each letter, and takes 30 us."""
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
        return not _opens_with_success(hits, known) and not _is_log(text)
    strengths = {known.by_id[hit.id].strength for hit in hits}
    # A page that was fetched speaks for itself.
    is_page = text.lstrip(' "\n\r\t').startswith("<")
    if is_page or len(text) > _SHORT or Strength.SUCCESS in strengths or "\n" in text.strip():
        return False
    return any(known.by_id[hit.id].reports and not _is_quoted(text, hit.end) for hit in hits)


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


def _is_quoted(text: str, end: int) -> bool:
    """Words in quotation marks are talked about, not said."""
    return text[end : end + 1] in _CLOSING_QUOTES and end < len(text)


def _opens_with_success(hits: Sequence[Hit], known: ResultPhrases) -> bool:
    """`Status Code: 200` with any page behind it, or `Errors: 0`."""
    return any(hit.end <= _OPENING and known.by_id[hit.id].strength is Strength.SUCCESS for hit in hits)


def _is_log(text: str) -> bool:
    return "\n" in text and len(_LOG_LINE.findall(text, 0, _LONGEST_REPORT)) > 1


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
