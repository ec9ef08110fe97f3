"""The work of `toolvet check answer`: answers in, verdicts out, one after the other as they are read."""

import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from typing import Final, NamedTuple

from toolvet.cli.commands.check.input import is_table, open_input, source_name
from toolvet.cli.commands.check.verdicts import PROGRESS_INTERVAL, encode, kinds, show_progress, signal_lines
from toolvet.cli.terminal import Line, line_printer
from toolvet.core.checks import AnswerQuality
from toolvet.core.discover import settings_file
from toolvet.core.json_value import elements, is_array, is_object, members
from toolvet.core.turn import AnswerCheck, AnswerOptions
from toolvet.core.visible import visible
from toolvet.errors import UsageError
from toolvet.store.settings import StoreSettings

_TEXT_KEYS: Final = ("answer", "text", "response", "content")
# These are only kept: the check does not read them.
_STORED_KEYS: Final = ("model", "variant", "conversation")
_TURN_KEYS: Final = (
    "id",
    "question",
    "calls",
    "tool_calls",
    "finish_reason",
    "trace",
    "trace_id",
    "stop_reason",
    *_STORED_KEYS,
)
_MOST_SHOWN: Final = 20


class AnswerRecord(NamedTuple):
    """One answer, its place in the input, and what its record says about its turn."""

    place: str
    text: str | None
    identity: Mapping[str, object]
    question: str | None = None
    calls: Sequence[object] | None = None
    finish_reason: str | None = None
    trace: str | None = None
    model: str | None = None
    variant: str | None = None
    conversation: str | None = None

    @property
    def name(self) -> str:
        """The name of the answer in the output: its own id, else its place."""
        return str(self.identity.get("id", self.place))


def read_answers(file: str, *, lines: bool, field: str | None = None) -> Iterator[AnswerRecord]:
    """Yield every answer of a file (`-` is stdin): a text, JSON, JSONL or a table. With `lines`, each line is one.

    `field` is the column of a table, or the key of an object, that has the answer.

    Raises UsageError, with the place, for input that cannot be read or does not contain an answer.
    """
    if is_table(file) and not lines:
        yield from _read_table(file, field)
        return
    name = source_name(file)
    with open_input(file) as stream:
        if lines:
            for number, line in enumerate(stream, start=1):
                if line.strip():
                    yield AnswerRecord(f"{name}, line {number}", line.decode("utf-8", "replace").rstrip("\r\n"), {})
            return
        first = b""
        for line in stream:
            first += line
            if line.strip():
                break
        value = _decode(first)
        if value is None:
            # JSON over several lines, or a text.
            content = first + stream.read()
            value = _decode(content)
            if value is not None:
                yield from _read_value(value, name, field)
                return
            if field is not None:
                raise UsageError(
                    f"{name}: --field {field} needs a table (.csv, .tsv, .parquet) or JSON objects, not a text"
                )
            # An empty file is an empty answer, and is reported as one.
            text = content.decode("utf-8", "replace")
            if _odd(text) > len(text) // 10:
                raise UsageError(f"{name}: is binary, not text; tables end in .csv, .tsv or .parquet")
            yield AnswerRecord(name, text, {})
            return
        yield from _read_value(value, f"{name}, line 1", field)
        for number, line in enumerate(stream, start=2):
            if line.strip():
                value = _decode(line)
                if value is None:
                    raise UsageError(f"{name}, line {number}: not JSON, as line 1 is")
                yield from _read_value(value, f"{name}, line {number}", field)


def _odd(text: str) -> int:
    """How many characters a text does not have: NUL, and bytes that are not UTF-8."""
    return text.count("\0") + text.count("\ufffd")


def _read_table(file: str, field: str | None) -> Iterator[AnswerRecord]:
    from toolvet.cli.commands.check.tables import open_table  # noqa: PLC0415 - only for tables

    with open_table(file) as table:
        column = table.column(field, _TEXT_KEYS)
        others = [each for each in table.columns if each in _TURN_KEYS and each != column]
        for row in table.rows([column, *others]):
            turn = {each: row.value(each) for each in others if row.cells.get(each) not in (None, "")}
            yield _read_object({**turn, column: row.cells.get(column)}, row.place, column)


def _decode(line: bytes) -> object | None:
    """Decode an object, a list or a string; None for all else, such as a text that is a number."""
    if line.lstrip(b" \t\r\n")[:1] not in (b"{", b"[", b'"'):
        return None
    # Loading it takes 6 ms, and a text needs none of it.
    import orjson  # noqa: PLC0415

    try:
        value: object = orjson.loads(line)
    except orjson.JSONDecodeError:
        return None
    return value if is_object(value) or is_array(value) or isinstance(value, str) else None


def _read_value(value: object, place: str, field: str | None) -> Iterator[AnswerRecord]:
    if is_array(value):
        for number, each in enumerate(elements(value), start=1):
            yield from _read_value(each, f"{place}, object {number}", field)
        return
    if isinstance(value, str):
        yield AnswerRecord(place, value, {})
        return
    yield _read_object(members(value), place, field)


def _read_object(record: Mapping[str, object], place: str, field: str | None) -> AnswerRecord:
    key = next((each for each in (_TEXT_KEYS if field is None else (field,)) if each in record), None)
    if key is None and field is not None:
        raise UsageError(f"{place}: no '{field}' in it; it has {', '.join(map(str, list(record)[:_MOST_SHOWN]))}")
    if key is None:
        raise UsageError(f"{place}: no answer in it; give it under {', '.join(_TEXT_KEYS[:-1])} or {_TEXT_KEYS[-1]}")
    calls = record.get("calls", record.get("tool_calls"))
    question = record.get("question")
    reason = record.get("finish_reason", record.get("stop_reason"))
    trace = record.get("trace", record.get("trace_id"))
    text = record[key]
    if is_array(text):
        # As the APIs of model vendors and MCP return them.
        blocks = [members(each).get("text") if is_object(each) else each for each in elements(text)]
        text = "".join(block for block in blocks if isinstance(block, str))
    elif text is not None and not isinstance(text, str):
        raise UsageError(f"{place}, {key}: must be a text, not {type(text).__name__}")
    about = {name: value for name in _STORED_KEYS if isinstance(value := record.get(name), str) and value}
    return AnswerRecord(
        place,
        text,
        {"id": record["id"]} if "id" in record else {},
        question if isinstance(question, str) else None,
        elements(calls) if is_array(calls) else None,
        reason if isinstance(reason, str) else None,
        trace if isinstance(trace, str) and trace else None,
        **about,
    )


class Output(NamedTuple):
    """The flags for the output (`json`, `advice`) and the input.

    With `lines` each line of a text is an answer; `field` is the column or key that has it. `store` is the file or
    URL to which answers with a trace id are added; `trace` is the id of those that name none.
    """

    json: bool = False
    advice: bool = False
    lines: bool = False
    field: str | None = None
    store: str | None = None
    trace: str | None = None


def check_files(
    files: Sequence[str], fail_on: str, *, output: Output, settings: str | None, given: Mapping[str, object]
) -> int:
    """Check every answer of every file; return 1 when one is as bad as `fail_on`, else 0.

    `given` are the options of the flags, None for those that were not given: the file `settings` decides about these.
    """
    options, url = _settings(settings)
    options.update({name: value for name, value in given.items() if value is not None})  # type: ignore[typeddict-item]
    check = AnswerCheck(**options)
    records = (each for file in files for each in read_answers(file, lines=output.lines, field=output.field))
    print_line, is_terminal = line_printer()
    totals = _Totals()
    failed = False
    with ExitStack() as until_the_end:
        store = None
        if place := output.store or url:
            from toolvet.cli.options import checked_store  # noqa: PLC0415 - only where it is asked for
            from toolvet.store import Store  # noqa: PLC0415 - as above

            store = until_the_end.enter_context(Store(checked_store(place)))
        progress = until_the_end.enter_context(show_progress())
        for number, record in enumerate(records, start=1):
            trace, calls = record.trace or output.trace, record.calls
            if calls is None and store is not None:
                calls = store.tool_calls(trace)
            quality = check(
                record.text,
                calls=calls,
                question=record.question,
                finish_reason=record.finish_reason,
                trace=trace,
            )
            if store is not None:
                store.add(
                    quality,
                    text=record.text or "",
                    question=record.question,
                    calls=record.calls,
                    model=record.model,
                    variant=record.variant,
                    conversation=record.conversation,
                )
            totals.add(quality)
            if fail_on != "never":
                failed |= quality.should_escalate or (fail_on == "signal" and bool(quality.signals))
            advice = None
            if output.advice:
                from toolvet.core.turn import regeneration_advice  # noqa: PLC0415 - only where it is asked for

                advice = regeneration_advice(quality, question=record.question, calls=calls)
            if output.json:
                document = quality.to_dict()
                if advice is not None:
                    document["advice"] = advice
                sys.stdout.buffer.write(encode(document, record.identity))
                sys.stdout.buffer.flush()
            else:
                for line in _lines(record, quality, advice, underlines=not is_terminal):
                    print_line(line)
            if progress is not None and number % PROGRESS_INTERVAL == 0:
                progress.update(f"{number:,} answers")
    if not output.json:
        print_line(totals.line())
    return int(failed)


def _settings(given: str | None) -> tuple[AnswerOptions, str | None]:
    if settings_file(given) is None:
        return {}, None
    # Most often there is none, and loading this takes as long as a verdict.
    from toolvet.core.settings import load_settings  # noqa: PLC0415

    loaded = load_settings(given)
    return loaded.answer_options(), loaded[StoreSettings].url


def _lines(record: AnswerRecord, quality: AnswerQuality, advice: str | None, *, underlines: bool) -> Iterable[Line]:
    verdict, style = ("escalate", "red") if quality.should_escalate else ("show", "green")
    yield [
        (f"{verdict:9}", f"bold {style}"),
        (f"{quality.score:<6g}", ""),
        (visible(record.name), ""),
        ("  " + kinds(quality), "dim"),
    ]
    yield from signal_lines(quality, underlines=underlines)
    if advice is not None:
        yield [(f"    next time: {visible(advice)}", "italic")]


class _Totals:
    """The figures of all answers. Nothing else of an answer is kept, so that the input may be endless."""

    def __init__(self) -> None:
        self._count = 0
        self._escalated = 0
        self._score = 0.0
        self._issues: Counter[str] = Counter()

    def add(self, quality: AnswerQuality) -> None:
        self._count += 1
        self._escalated += quality.should_escalate
        self._score += quality.score
        self._issues.update(signal.type.value for signal in quality.signals)

    def line(self) -> Line:
        count = self._count or 1
        issues = ", ".join(f"{kind} {number}" for kind, number in self._issues.most_common())
        figures = (
            f"{self._count:,} answer{'' if self._count == 1 else 's'}, {self._escalated:,} to escalate "
            f"({self._escalated / count:.0%}), mean score {self._score / count:.2f}"
        )
        return [(figures + (f"; {issues}" if issues else ""), "bold")]
