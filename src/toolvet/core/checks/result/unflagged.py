"""Errors without the flag: whether a success says in its text or structured content that the call failed.

Precision comes first: a log file, a document about errors, a record with an `error` column are payloads. So an error
must be the whole answer. It is a JSON object that states it (`body.py`), or a text that opens like an error report. A
text also counts if its first sentence reports the error, and the rest only lists alternatives.

Frameworks wrap the tool's value: `{"result": "Error: no such user"}`, `{"result": {"success": false, …}}`. `unwrap`
removes the wrapping, and the value inside is judged like one that was never wrapped.
"""

import ast
import re
from collections.abc import Sequence
from typing import Final, cast

import msgspec

from toolvet.core.checks.result.body import (
    BodyReport,
    ResultContext,
    could_report,
    exit_code_in,
    is_no_match,
    report_in,
    unwrap,
)
from toolvet.core.checks.result.phrases import CallerText, ResultPhrases, Strength
from toolvet.core.checks.result.response import ToolResponse, list_of, object_of
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
_MOST_KEYS = 64
_PAGE_OPENING = 20
_LOG_LINE = re.compile(
    r"^\W{0,2}(?:\d{4}-\d\d-\d\d|\d\d:\d\d:\d\d|(?:INFO|WARN(?:ING)?|DEBUG|ERROR|TRACE)\b)", re.MULTILINE
)
# `cat: a.txt: No such file or directory`, `Try 'cat --help' for more information.`
_DIAGNOSTIC = re.compile(r"[^\n]{1,300}?: |\s*(?:try|usage|see|for more|hint)\b|\s+-", re.IGNORECASE)
_MOST_LINES = 40
_NO_CODE = re.compile(r"^ *File \"[^\"\n]{1,300}\", line \d{1,7}\n(?:.{0,300}\n){1,3}SyntaxError: ", re.MULTILINE)
_FEWEST_WORDS = 4
# A row of characters that long is an echo, also where no arguments are known. It is looked for where a word begins:
# the search would start again at each letter. Of a longer text the words are that long on average, which prose is not.
_LONG_WORD = re.compile(r"(?<![^\s\"'{}<>])[^\s\"'{}<>]{80,}")
_LONG_ON_AVERAGE = 40
_LARGE_LIST = 20_000
_FAILING_ITEM = re.compile(r'"(?:err|errors?|exception)": ?["[{]|"(?:success|ok)": ?false', re.IGNORECASE)
_MEMBERS = msgspec.json.Decoder(dict[str, msgspec.Raw])
# Replaces a member that is too large to read: it counts as content.
_UNREAD: Final = "\u2026" * 201
_FIRST_SENTENCE = re.compile(r"[^\n]{1,200}?(?:[.!?:](?=[\s\"'])|$)", re.MULTILINE)
_MARK = re.compile(r"\s*[\u274c\u2717\u2718\U0001f6ab\u26d4\u26a0]")
_GOOD_MARK = re.compile("[\u2705\u2713\u2714]")
# The alternatives to a thing that was not found: the rest of an error, however long.
_OFFERS = re.compile(
    r"\W{0,6}(?:(?:the |all |currently )?"
    r"(?:available|supported|valid|allowed|known|possible|existing|accepted|registered)"
    r" (?:\w+ ){0,2}?(\w+) ?(?::|are\b|include)|did you mean\b|choose (?:one of|from)\b|(?:must be )?one of\b)",
    re.IGNORECASE,
)
_NONE_FOUND = re.compile(r"\W{0,4}no (?:\w+ ){1,3}(?:found|match\w*)\b", re.IGNORECASE)
_SHORTEST_STEM = 4


def unflagged_error(response: ToolResponse, known: ResultPhrases, asked: ResultContext) -> tuple[BodyReport, str]:
    """Whether a success reports an error, or that a part failed, and the text that does."""
    structured = response.structured
    if structured is not None:
        report = _value_reports(structured, known, asked)
        if report is not BodyReport.NOTHING:
            return report, "\n".join(response.texts) or strings_of(structured)
    for text in response.texts[:_MOST_BLOCKS]:
        opening = text.lstrip()[:2]
        if opening[:1] == "{" or (opening[:1] == "[" and not opening[1:].isalpha()):
            # Structured content was judged already, and its text is usually the same. `[ERROR]` is not a list.
            report = _json_reports(text, known, asked) if structured is None else BodyReport.NOTHING
        else:
            report = BodyReport.FAILED if _is_error_text(text, known, asked) else BodyReport.NOTHING
        if report is not BodyReport.NOTHING:
            return report, text
    return BodyReport.NOTHING, ""


def _json_reports(text: str, known: ResultPhrases, asked: ResultContext) -> BodyReport:
    """Return what a text that starts like a JSON object or list reports; large members are not read."""
    is_list = text.lstrip()[:1] == "["
    # Most lists are payloads, and are not decoded: one of failures says so in its first item.
    if is_list and (len(text) > _LARGE_LIST or not _FAILING_ITEM.search(text, 0, _HEAD)):
        return BodyReport.NOTHING
    try:
        if is_list:
            return report_in(msgspec.json.decode(text), asked)
        members = _MEMBERS.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        # Servers written in Python like to answer with `str(a_dict)`.
        if len(text) > _LARGE_MEMBER:
            return BodyReport.NOTHING
        try:
            value = cast("object", ast.literal_eval(text.strip()))
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            return BodyReport.NOTHING
        return _value_reports(value, known, asked)
    if len(members) > _MOST_KEYS or not (could_report(members) or _FAILING_ITEM.search(text, 0, _HEAD)):
        return BodyReport.NOTHING
    body: dict[str, object] = {}
    for key, raw in members.items():
        if len(raw) > _LARGE_MEMBER and "error" not in key.lower() and b"<" not in bytes(raw)[:_PAGE_OPENING]:
            body[key] = _UNREAD
            continue
        try:
            body[key] = msgspec.json.decode(raw)
        except (msgspec.DecodeError, RecursionError):
            body[key] = None
    return _value_reports(body, known, asked)


def _value_reports(value: object, known: ResultPhrases, asked: ResultContext) -> BodyReport:
    """Return what a JSON value reports, by itself or by the value that a framework wrapped into it."""
    report = report_in(value, asked)
    inner = unwrap(value)
    if report is not BodyReport.NOTHING or inner is value:
        return report
    if not isinstance(inner, str):
        return report_in(inner, asked)
    if inner.lstrip()[:1] == "{" or inner.lstrip().startswith("[{"):
        return _json_reports(inner, known, asked)
    # If another member says that there was no error, a word or two are the requested content.
    is_said = len(object_of(value) or ()) == 1 or len(inner.split()) >= _FEWEST_WORDS
    return BodyReport.FAILED if is_said and _is_error_text(inner, known, asked) else BodyReport.NOTHING


def _is_error_text(text: str, known: ResultPhrases, asked: ResultContext) -> bool:
    if len(text) > _LONGEST_PROGRAM_OUTPUT:
        return False
    runs_programs = asked.runs_programs
    if runs_programs:
        code = exit_code_in(text[-_SHORT:])
        if code:
            return not is_no_match(code, asked.command, silent="\n" not in text.strip())
        if "Traceback (most recent call last)" in text or ("SyntaxError: " in text and _NO_CODE.search(text)):
            return True
    # A value that was sent and comes back hides a short report: "Document xxxx…xxxx.docx does not exist".
    text = without_echoes(text, asked.sent)[0]
    if _SHORT < len(text) <= _LONGEST_REPORT and (len(text) <= _HEAD or len(text) > _LONG_ON_AVERAGE * text.count(" ")):
        text = _LONG_WORD.sub("\u2026", text)
    hits = known.scan(text[:_HEAD])
    has_none = _NONE_FOUND.match(text) is not None
    if not hits and not has_none:
        return False
    first = _FIRST_SENTENCE.match(text, len(text) - len(text.lstrip()))
    said, rest = ("", "") if first is None else (text[: first.end()], text[first.end() : _LONGEST_REPORT].strip())
    offer = _OFFERS.match(rest)
    if offer is not None and offer[1] and has_none:
        # "No icons found in category x. Available categories: …": there is no such category. It is not an empty search.
        return offer[1][: max(_SHORTEST_STEM, len(offer[1]) - 3)].lower() in said.lower()
    if not hits:
        return False
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
        # `Status Code: 200` with any page after it, or `Errors: 0`.
        return not any(
            hit.end <= _OPENING and known.by_id[hit.id].strength is Strength.SUCCESS for hit in hits
        ) and not ("\n" in text and len(_LOG_LINE.findall(text, 0, _LONGEST_REPORT)) > 1)
    strengths = {known.by_id[hit.id].strength for hit in hits}
    # A page that was fetched speaks for itself.
    if Strength.SUCCESS in strengths or text.lstrip(' "\n\r\t').startswith("<"):
        return False
    # The first sentence says it, and what follows is not another text: what there is instead, or a list of causes.
    is_marked = _MARK.match(text) is not None and _GOOD_MARK.search(text) is None
    is_whole = len(text) <= _SHORT and "\n" not in text.strip()
    if not is_whole and offer is None and not (is_marked and rest):
        return False
    end = len(text) if is_whole else len(said)
    # Words in quotation marks are talked about, not said.
    return any(
        hit.end <= end
        and known.by_id[hit.id].reports
        and not (hit.end < len(text) and text[hit.end] in _CLOSING_QUOTES)
        for hit in hits
    )


_MOST_ECHOES = 20
_LONGEST_ECHOED = 20_000
_SHORTEST_ECHO = 4
_ONE_WORD = re.compile(r"\w{0,30}")
# How JSON writes it.
_ESCAPES = str.maketrans({'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t"})


def without_echoes(text: str, sent: Sequence[str]) -> tuple[str, dict[str, str]]:
    """Return the text with each sent value that it repeats replaced by one word, and the value of each of these words.

    A value that is already one word stays. A caller's own text says nothing about what happened, and its length and
    quotation marks separate the words of an error.

    >>> without_echoes("File 'my notes.txt' not found", ["my notes.txt", "utf8"])
    ("File 'Echo0x' not found", {'Echo0x': 'my notes.txt'})
    """
    replaced: dict[str, str] = {}
    if not sent or len(text) > _LONGEST_ECHOED:
        return text, replaced
    # Most values do not come back, and few are written otherwise in JSON: this is quick for all others.
    echoes: list[str] = []
    for value in sent:
        if _SHORTEST_ECHO <= len(value) <= len(text):
            written = value
            if value not in text:
                if '"' not in value and "\n" not in value and "\\" not in value and "\t" not in value:
                    continue
                written = value.translate(_ESCAPES)
            if written in text and _ONE_WORD.fullmatch(value) is None and any(map(str.isalnum, value)):
                echoes.append(written)
    if not echoes:
        return text, replaced
    for written in sorted(echoes, key=len, reverse=True)[:_MOST_ECHOES]:
        if written in text:
            word = f"Echo{len(replaced)}x"
            text = text.replace(written, word)
            replaced[word] = written
    return text, replaced


def _is_diagnostic(text: str, hits: Sequence[Hit], known: ResultPhrases) -> bool:
    """Whether the output of a program comes from its error stream, by its opening and most of its lines."""
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
