"""Reads from the members of a JSON body whether its call failed. All facts that are not words are decided here.

    ResultContext         what the call asked for: whose exit code, errors or verdict the body may hold
    report_in     a body → whether it says that the call failed, or a part of it
    unwrap        the value inside a framework's `{"result": …}`
    exit_code_in  the exit code that the output of a program, or an object about its run, tells
    is_no_match   whether an exit code of a command means that nothing matched, or that something differs

A false success flag or a filled error member decides, however many other members there are. Only results of the call
itself outweigh it, and then a part failed. A record that the caller asked for (a job that failed, a probe that met a
404) has its own identity, or comes from a tool whose name shows that it reports about something else.
"""

import re
from collections.abc import Iterable, Mapping
from enum import Enum
from functools import cache
from itertools import takewhile
from typing import Final

import msgspec

from toolvet.core.checks.result.response import list_of, object_of
from toolvet.core.discover.toml import read_toml

_MOST_MEMBERS: Final = 64
_MOST_WRAPPING: Final = 2
# Members of an error report that are neither the error nor its usual company: beyond these it is looked at twice.
_MOST_OTHERS: Final = 2
# A record with one of these has an identity of its own: a job that failed, a ticket about an error.
_RECORD: Final = frozenset(("id", "name", "title", "url", "created_at", "time"))
_NAMED: Final = frozenset(("name", "title", "created_at"))
_LANGUAGE: Final = re.compile(r"[_-][a-z]{2}(?:[_-][a-z]{2})?$")  # `message_ru`, `detail-pt-br`
_LONGEST_OPENING: Final = 200
_LONGEST_PAGE_HEAD: Final = 4_000
_MOST_ITEMS: Final = 100
_HIGHEST_EXIT_CODE: Final = 256
_CODE: Final = re.compile(r"-?\d{1,7}")
# "±2 °C" under `error` is how exact a value is.
_MEASURE: Final = re.compile(r"\s*(?:[±+~<≤][+-]? ?\d[\d.,]*\s*\S{0,4}(?: ?[CFK])?|\d[\d.,]* ?(?:%|°.?.?))\s*")
_SENTENCE: Final = re.compile(r"[^\n]{0,80}?[^\W\d_]{2}\W[^\n]{0,80}?[^\W\d_]{2}")
# A page that a web server sends instead of an answer: its title or first heading is the error.
_ERROR_PAGE: Final = re.compile(
    r"\s*(?:<\?xml[^>]*>\s*)?<(?:!doctype html|html|head|body)\b[^\0]{0,2000}?<(?:title|h1)[^>]*>\s*"
    r"(?:error\b\W{0,3})?"
    r"(?:[45]\d\d\b|error\b|bad request|unauthori[sz]ed|forbidden|access denied|(?:page )?not found|bad gateway"
    r"|gateway time-?out|internal server error|service (?:temporarily )?unavailable|attention required"
    r"|too many requests)",
    re.IGNORECASE,
)


class BodyReport(Enum):
    """Whether a result reports that its call failed."""

    NOTHING = "nothing"
    PART_FAILED = "part_failed"
    FAILED = "failed"


class ResultContext(msgspec.Struct, frozen=True):
    """The request of the call, as far as it decides how to read the answer.

    `runs_programs`: a traceback is the outcome of the call. `acts`: the tool does something, and gives no verdict.
    `reports`: it reports about jobs, logs or processes that are not this call. `probes`: it checks how an address
    answers. `command` is the command that it ran, `sent` are the strings of the arguments.
    """

    runs_programs: bool = False
    acts: bool = False
    reports: bool = False
    probes: bool = False
    command: str = ""
    sent: tuple[str, ...] = ()


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
    validities: tuple[str, ...]
    failed: frozenset[str]
    nothing: frozenset[str]
    code_words: tuple[str, ...]
    exit_codes: tuple[str, ...]
    outputs: tuple[str, ...]
    succeeded_counts: tuple[str, ...]
    failed_counts: tuple[str, ...]
    summaries: tuple[str, ...]


class _Shapes(msgspec.Struct, frozen=True):
    """The table, and the data derived from it."""

    table: _BodyTable
    said_by: frozenset[str]
    companions: frozenset[str]
    telling: frozenset[str]


@cache
def _shapes() -> _Shapes:
    found = read_toml("toolvet.core.checks.result", "error_shapes.toml", _BodyTable)
    said_by = frozenset((*found.errors, *found.words))
    facts = frozenset((*found.exit_codes, *found.succeeded_counts, *found.summaries, *found.validities))
    known = frozenset((*said_by, *found.flags, *found.codes))
    telling = known | facts | found.wrappers | found.boxes | {"__type", "is_error", "iserror", "object"}
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


_UNKNOWN: Final = ResultContext()


def report_in(value: object, asked: ResultContext = _UNKNOWN, *, is_item: bool = False) -> BodyReport:
    """Return what this JSON value as a whole reports of its call; lists inside an `is_item` are not read."""
    items = list_of(value)
    if items is not None and not is_item:
        return BodyReport.FAILED if _are_failures(items, asked) else BodyReport.NOTHING
    members = object_of(value)
    if members is None or not 0 < len(members) <= _MOST_MEMBERS:
        return BodyReport.NOTHING
    shapes = _shapes()
    body: dict[object, object] = {key.lower(): member for key, member in members.items() if type(key) is str}
    # Most payloads have none of these keys, and looking for each of them in turn takes 15 µs.
    if shapes.telling.isdisjoint(body) and "results" not in body:
        return BodyReport.NOTHING
    is_record = any(key in _RECORD and body[key] not in asked.sent for key in body)
    if is_record and asked.reports and not _NAMED.isdisjoint(body):
        return BodyReport.NOTHING
    if _ended_badly(body, asked, is_record=is_record):
        return BodyReport.FAILED
    if any(body.get(flag) is True for flag in shapes.table.flags):
        return BodyReport.NOTHING
    if not is_item and not is_record and _nothing_succeeded(body, asked):
        return BodyReport.FAILED
    return _stated(body, shapes, asked, is_record=is_record)


def _stated(body: Mapping[object, object], shapes: _Shapes, asked: ResultContext, *, is_record: bool) -> BodyReport:
    """Return what the flags, the error members and the shape of an object report."""
    table = shapes.table
    refused = asked.acts and any(body.get(key) is False for key in table.validities)
    failed = refused or body.get("object") == "error" or any(body.get(flag) is False for flag in table.flags)
    words = any(key in shapes.said_by and _speaks(member, table) for key, member in body.items())
    judged = [body[key] for key in table.verdicts if key in body]
    # A verdict was asked for, such as `{"valid": false, "errors": […]}`: its errors are the answer.
    if not refused and any(type(each) is bool or (_speaks(each, table) and not (failed and words)) for each in judged):
        return BodyReport.NOTHING
    said = [body[key] for key in table.errors if key in body and _speaks(body[key], table)]
    if judged or (asked.reports and len(body) > 1):
        # A list of errors without a failure is what a linter or a log was asked for.
        said = said if failed else [each for each in said if list_of(each) is None]
    others = [key for key in body if key not in shapes.companions and _LANGUAGE.sub("", str(key)) not in shapes.said_by]
    is_wide = len(others) > _MOST_OTHERS
    # A failure envelope is a failure, whatever its data holds; a list of errors may be what was asked for.
    if failed and any(list_of(each) is None for each in said) and not (is_wide and is_record):
        return BodyReport.FAILED
    # Something to read beside the error: then it is a part of an answer, such as GraphQL's partial results.
    results = [body[key] for key in table.payloads if key in body]
    if any(_is_filled(each, table) for each in results):
        return BodyReport.PART_FAILED if said or (failed and words) else BodyReport.NOTHING
    if not is_wide and any(isinstance(page := body.get(key), str) and is_error_page(page) for key in table.pages):
        return BodyReport.FAILED
    if failed and None in results and not is_record:
        # `{"ok": false, "result": null, …}`: the body itself says that it has no result.
        return BodyReport.FAILED
    status = body.get("status")
    status = status.lower() if isinstance(status, str) else ""
    failed = failed or any(body.get(key) is True for key in ("error", "iserror", "is_error"))
    if status in table.failed and (status == "error" or not is_record):
        failed = failed or status == "error" or not is_wide
    if not (failed and (words or len(body) == 1)) and not said:
        is_problem = not failed and not others and words and _is_problem(body, table, probes=asked.probes)
        return BodyReport.FAILED if is_problem else BodyReport.NOTHING
    if not is_wide:
        long = not failed and any(isinstance(body[key], str) and _is_filled(body[key], table) for key in others)
        return BodyReport.PART_FAILED if long else BodyReport.FAILED
    sentences = failed or any(not isinstance(each, str) or _SENTENCE.match(each) for each in said)
    if is_record or asked.reports or not sentences:
        return BodyReport.NOTHING
    # Lists, records and numbers of its own are results of the call; a flag with a sentence outweighs the numbers.
    told = failed and any(isinstance(body.get(key), str) and _speaks(body[key], table) for key in shapes.said_by)
    outweighs = any(
        _is_filled(body[key], table) or (not told and type(body[key]) in (int, float) and body[key]) for key in others
    )
    return BodyReport.PART_FAILED if outweighs else BodyReport.FAILED


def _are_failures(items: list[object], asked: ResultContext) -> bool:
    """Whether a list holds nothing but failures of this call: its items have no identity but what was sent."""
    if not items or asked.reports or len(items) > _MOST_ITEMS:
        return False
    return all(
        report_in(item, asked, is_item=True) is BodyReport.FAILED
        and not any(key in _RECORD and value not in asked.sent for key, value in (object_of(item) or {}).items())
        for item in items
    )


def _nothing_succeeded(body: dict[object, object], asked: ResultContext) -> bool:
    """Whether the counts say that all of it failed, or the only results are failures."""
    table = _shapes().table
    if asked.reports:
        return False
    for place in (body, *(body[key] for key in table.summaries if key in body)):
        counts = {key: number for key, number in (object_of(place) or {}).items() if type(number) is int}
        none = any(counts.get(key) == 0 for key in table.succeeded_counts)
        if none and any(counts.get(key, 0) > 0 for key in table.failed_counts):
            return True
    # With a summary, a cursor or the time beside it.
    results = [items for key in table.payloads if (items := list_of(body.get(key)))]
    return len(results) == 1 and all(_are_failures(items, asked) for items in results)


def _ended_badly(body: Mapping[object, object], asked: ResultContext, *, is_record: bool) -> bool:
    """Whether a program that this call ran ended with the code of a failure."""
    table = _shapes().table
    outputs = [body[key] for key in table.outputs if key in body]
    code = exit_code_in(body)
    if not code:
        return False
    if not asked.runs_programs and (asked.reports or is_record or not (outputs or len(body) == 1)):
        return False
    return not is_no_match(code, asked.command, silent=not any(outputs))


_SAID: Final = re.compile(
    r"(?i)\b(?:exited(?: with)?(?: exit)?(?: (?:code|status))?|(?:exit|return)[ _]?(?:code|status))\b"
    r"\"?[:= ]{1,3}(-?\d{1,3})\b"
)
_SAID_WITHIN: Final = 400


def exit_code_in(output: object) -> int | None:
    """Return the exit code that a text tells at its end or its beginning, or a member of an object; None without one.

    >>> exit_code_in("2 failed. Process exited with code 1"), exit_code_in({"exit_code": "0", "stdout": "a"})
    (1, 0)
    """
    if isinstance(output, str):
        ends = (_SAID.findall(output, max(0, len(output) - _SAID_WITHIN)), _SAID.findall(output, 0, _SAID_WITHIN))
        return next((int(codes[-1]) for codes in ends if codes), None)
    body = object_of(output) or {}
    found = next((body[key] for key in _shapes().table.exit_codes if body.get(key) is not None), None)
    if found is None and ("stdout" in body or "stderr" in body):
        found = body.get("status_code", body.get("statuscode"))
        found = found if isinstance(found, int) and abs(found) < _HIGHEST_EXIT_CODE else None
    code = int(found) if isinstance(found, str) and _CODE.fullmatch(found) else found
    return code if type(code) is int else None


def _is_filled(value: object, known: _BodyTable) -> bool:
    members = object_of(value)
    if members is not None:
        return any(member is not None for member in members.values()) and not _speaks(members.get("error"), known)
    items = list_of(value)
    if items is not None:
        # A list of nothing but failures is not a payload.
        return any(not _speaks((object_of(item) or {}).get("error"), known) for item in items[:_MOST_ITEMS])
    return isinstance(value, str) and len(value) > _LONGEST_OPENING and not is_error_page(value)


def _speaks(value: object, known: _BodyTable) -> bool:
    """An error that says something: no null, no empty list, no count, and not how exact a value is."""
    if isinstance(value, str):
        return value.strip().lower() not in known.nothing and _MEASURE.fullmatch(value[:_LONGEST_OPENING]) is None
    items = list_of(value)
    if items is not None:
        return bool(items) and type(items[0]) in (str, dict)
    return bool(object_of(value))


def _is_problem(body: Mapping[object, object], known: _BodyTable, *, probes: bool) -> bool:
    """Problem details, status objects and the like: an error by the keys that occur together."""
    code = next((body[key] for key in known.codes if body.get(key) is not None), None)
    number = int(code) if isinstance(code, str) and _CODE.fullmatch(code) else code
    if type(number) is int and not probes and (400 <= number < 600 or -32999 <= number <= -32000):
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


_LONGEST_COMMAND: Final = 2_000
_LIST: Final = re.compile(r"[;\n]|&&|\|\|?")
_SHELL: Final = re.compile(r"\s*\S{0,40}?(?:ba|z|da)?sh -\w{0,5}c (['\"]?)([^\0]*)\1\s*")
_QUOTED: Final = re.compile(r"'[^']*'|\"(?:[^\"\\]|\\.)*\"")
# What runs another program and ends with its code: `sudo -u me`, `env A=1`, `uv run`, `python -m`, a folder.
_RUNNER: Final = re.compile(
    r"(?:[A-Z_]\w*=\S* +|(?:[\w.~-]*/)*(?:sudo|env|nice|nohup|time|timeout \S+|command|exec|npx|bunx|uvx|xargs"
    r"|(?:uv|poetry|pdm|pipenv|hatch) run|python[\d.]* -m|then|do|if|while|until|!) +(?:-\S+ +)*)*(?:[\w.~-]*/)*"
)


class _ExitCodes(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A program whose `codes` are not failures; `match` reads a command from the program's name on."""

    match: str
    codes: frozenset[int]
    hits: tuple[str, ...]
    misses: tuple[str, ...]


class _ExitCodeTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    printers: str
    program: tuple[_ExitCodes, ...]


@cache
def exit_code_table() -> _ExitCodeTable:
    """The programs with exit codes that are not failures."""
    return read_toml("toolvet.core.checks.result", "exit_codes.toml", _ExitCodeTable)


def is_no_match(code: int, command: str, *, silent: bool) -> bool:
    """Whether this exit code of `command` says that nothing matched, or that something differs.

    The last program of the command that does more than print decides. Without a command, a program that printed
    nothing (`silent`) and ended with 1 was a search without matches or a failed test.

    >>> is_no_match(1, "cd src && grep -r TODO .", silent=True), is_no_match(2, "grep -r TODO .", silent=True)
    (True, False)
    """
    if not command:
        return code == 1 and silent
    table = exit_code_table()
    read = command[:_LONGEST_COMMAND]
    shell = _SHELL.fullmatch(read)
    bare = _QUOTED.sub("q", read if shell is None else shell[2])
    parts = [_RUNNER.sub("", part.strip(), count=1) for part in _LIST.split(bare) if part.strip()]
    printed = len(list(takewhile(lambda part: re.match(table.printers, part) is not None, reversed(parts))))
    last = parts[-1 - printed] if printed < len(parts) else ""
    return any(code in row.codes and re.match(row.match, last) is not None for row in table.program)
