"""The work of `toolvet check conversation`: conversations in, verdicts out, one after the other."""

import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import orjson

from toolvet.cli.commands.check.input import Record, is_table, read_input, read_lines, source_name
from toolvet.cli.commands.check.tables import read_table, refuse_field
from toolvet.cli.commands.check.verdicts import encode, kinds, show_progress, signal_lines
from toolvet.cli.terminal import Line, line_printer
from toolvet.core.json_value import elements, is_array, members
from toolvet.core.messages import is_conversation
from toolvet.core.settings import load_settings
from toolvet.core.turn import AnswerCheck, ConversationCheck, ConversationVerdict
from toolvet.core.visible import visible
from toolvet.errors import UsageError

_USUAL: Final = "messages"


@dataclass(frozen=True)
class ConversationRecord:
    """One conversation, its place in the input, and its own id, if any."""

    place: str
    messages: object
    identity: Mapping[str, object]

    @property
    def name(self) -> str:
        """The name of the conversation in the output: its own id, else its place."""
        return str(self.identity.get("id", self.place))


def read_conversations(file: str, field: str | None) -> Iterator[ConversationRecord]:
    """Yield every conversation of a file (`-` is stdin). Raises UsageError, with the place, for what is none."""
    if is_table(file):
        for record in read_table(file, field, _USUAL, ("id", "tools", "system")):
            yield _conversation(record)
        return
    refuse_field(file, field)
    records = read_lines(file)
    first = next(records)
    if first.malformed is not None:
        raise UsageError(f"{first.place}: not JSON: {first.malformed}")
    if is_array(first.value) and first.value and all(map(is_conversation, first.value)):
        for position, entry in enumerate(elements(first.value), start=1):
            yield _conversation(Record(f"{first.place}, conversation {position}", entry))
    elif is_conversation(first.value):
        yield _conversation(first)
    else:
        yield ConversationRecord(source_name(file), [first.value, *(record.value for record in records)], {})
    for record in records:
        if not is_conversation(record.value):
            raise UsageError(f"{record.place}: not a conversation, as line 1 is: a list, or an object with `messages`")
        yield _conversation(record)


def _conversation(record: Record) -> ConversationRecord:
    identity = {"id": members(record.value)["id"]} if "id" in members(record.value) else {}
    return ConversationRecord(record.place, record.value, identity)


_MOST_SHOWN: Final = 70  # Characters of a question or a result on one line.


def check_conversations(
    file: str, fail_on: str, *, tools: str | None, field: str | None, settings: str | None, as_json: bool
) -> int:
    """Judge every conversation; return 1 when one is as bad as `fail_on`, else 0."""
    loaded = load_settings(settings)
    options = loaded.answer_options()
    known: object = None
    if tools is not None:
        path = Path(tools)
        try:
            known = orjson.loads(read_input(str(path)))
        except orjson.JSONDecodeError as error:
            raise UsageError(f"--tools {path}: not JSON: {error}") from error
    check = ConversationCheck(
        tools=known,
        answers=AnswerCheck(**options),
        results=loaded.result_check(),
    )
    print_line, is_terminal = line_printer()
    totals = _ConversationTotals()
    failed = False
    with show_progress() as progress:
        for number, record in enumerate(read_conversations(file, field), start=1):
            try:
                verdict = check(record.messages)
            except TypeError as error:
                raise UsageError(f"{record.place}: {error}") from error
            totals.add(verdict)
            if fail_on != "never":
                failed |= verdict.should_escalate or (fail_on == "call" and bool(verdict.failed_calls))
            if fail_on == "signal":
                failed |= any(each.answer is not None and each.answer.signals for each in verdict.turns)
            if as_json:
                sys.stdout.buffer.write(encode(verdict.to_dict(), record.identity))
                sys.stdout.buffer.flush()
            else:
                for line in _lines(record, verdict, underlines=not is_terminal):
                    print_line(line)
            if progress is not None:
                progress.update(f"{number:,} conversations")
    if not as_json:
        print_line(totals.line())
    return int(failed)


def _lines(record: ConversationRecord, verdict: ConversationVerdict, *, underlines: bool) -> Iterable[Line]:
    yield [(f"{visible(record.name)}: {_count(len(verdict.turns), 'turn')}", "bold")]
    for number, each in enumerate(verdict.turns, start=1):
        if each.answer is None:
            word, style, score, found = "no answer", "yellow", "", ""
        else:
            word, style = ("escalate", "red") if each.answer.should_escalate else ("show", "green")
            score, found = f"{each.answer.score:g}", kinds(each.answer)
        yield [
            (f"  {number:<3}", ""),
            (f"{word:10}", f"bold {style}"),
            (f"{score:<6}", ""),
            (_short(each.turn.question), ""),
            (f"  {found}" if found else "", "dim"),
        ]
        for call in each.calls:
            said: list[str] = []
            if call.arguments is not None and not call.arguments.valid:
                issue = call.arguments.issues[0]
                said.append(f"invalid arguments: {_short(f'{issue.field}: {issue.problem}')}")
            if call.result is None:
                said.append("no result")
            elif call.failed and (call.result.reports_error or call.call.failed):
                said.append(f"failed ({call.result.state})" if call.result.state is not None else "failed")
            outcome = ("; ".join(said) or "fine", "red" if call.failed else "green")
            yield [(f"    {visible(call.call.name) or 'a tool'}: ", ""), outcome]
        if each.answer is not None:
            yield from signal_lines(each.answer, underlines=underlines)
        for note in each.turn.notes:
            yield [(f"    note: {visible(note)}", "dim")]


def _short(text: str) -> str:
    line = " ".join(visible(text).split())
    return line if len(line) <= _MOST_SHOWN else f"{line[: _MOST_SHOWN - 1]}…"


class _ConversationTotals:
    """The figures of all conversations; nothing else of them is kept."""

    def __init__(self) -> None:
        self._conversations = self._turns = self._escalated = self._calls = self._failed = 0

    def add(self, verdict: ConversationVerdict) -> None:
        self._conversations += 1
        self._turns += len(verdict.turns)
        self._escalated += sum(each.answer is not None and each.answer.should_escalate for each in verdict.turns)
        self._calls += sum(len(each.calls) for each in verdict.turns)
        self._failed += len(verdict.failed_calls)

    def line(self) -> Line:
        figures = (
            f"{_count(self._conversations, 'conversation')}, {_count(self._turns, 'turn')}, "
            f"{self._escalated:,} to escalate; {_count(self._calls, 'call')}, {self._failed:,} failed"
        )
        return [(figures, "bold")]


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
