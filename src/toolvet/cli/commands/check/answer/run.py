"""The work of `toolvet check answer`: answers in, verdicts out, one after the other as they are read."""

import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, NamedTuple

from toolvet.cli.commands.check.answer.records import AnswerRecord, read_answers
from toolvet.cli.commands.check.verdicts import (
    PROGRESS_INTERVAL,
    encode,
    kinds,
    show_progress,
    signal_lines,
)
from toolvet.cli.lines import Line, line_printer
from toolvet.core.checks import AnswerQuality
from toolvet.core.discover import settings_file
from toolvet.core.turn import AnswerCheck, AnswerOptions
from toolvet.core.visible import visible
from toolvet.store.settings import StoreSettings

if TYPE_CHECKING:
    from toolvet.store import Store


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
    print_line, is_terminal = line_printer()
    totals = _Totals()
    failed = False
    with ExitStack() as until_the_end:
        store = _open_store(output.store or url, until_the_end)
        progress = until_the_end.enter_context(show_progress())
        for number, record in enumerate(_read_all(files, output), start=1):
            quality = check(
                record.text,
                calls=record.calls,
                question=record.question,
                finish_reason=record.finish_reason,
                trace=record.trace or output.trace,
            )
            if store is not None:
                _keep(store, record, quality)
            totals.add(quality)
            failed |= _fails(quality, fail_on)
            if output.json:
                _write_json(record, quality, output)
            else:
                for line in _lines(record, quality, output, underlines=not is_terminal):
                    print_line(line)
            if progress is not None and number % PROGRESS_INTERVAL == 0:
                progress.update(f"{number:,} answers")
    if not output.json:
        print_line(totals.line())
    return int(failed)


def _settings(given: str | None) -> tuple[AnswerOptions, str | None]:
    """The options of the settings file, and its store."""
    if settings_file(given) is None:
        return {}, None
    # Most often there is none, and loading this takes as long as a verdict.
    from toolvet.core.settings import load_settings  # noqa: PLC0415

    loaded = load_settings(given)
    return loaded.answer_options(), loaded[StoreSettings].url


def _open_store(given: str | None, until_the_end: ExitStack) -> "Store | None":
    if given is None:
        return None
    from toolvet.cli.store import checked_store  # noqa: PLC0415 - only where it is asked for
    from toolvet.store import Store  # noqa: PLC0415 - as above

    return until_the_end.enter_context(Store(checked_store(given)))


def _keep(store: "Store", record: AnswerRecord, quality: AnswerQuality) -> None:
    """Add an answer to the store, with what its record says of the turn."""
    store.add(
        quality,
        text=record.text or "",
        question=record.question,
        calls=record.calls,
        model=record.model,
        variant=record.variant,
        conversation=record.conversation,
    )


def _read_all(files: Iterable[str], output: Output) -> Iterable[AnswerRecord]:
    for file in files:
        yield from read_answers(file, lines=output.lines, field=output.field)


def _fails(quality: AnswerQuality, fail_on: str) -> bool:
    if fail_on == "never":
        return False
    return quality.should_escalate or (fail_on == "signal" and bool(quality.signals))


def _advice(record: AnswerRecord, quality: AnswerQuality, output: Output) -> str | None:
    if not output.advice:
        return None
    from toolvet.core.turn import regeneration_advice  # noqa: PLC0415 - only where it is asked for

    return regeneration_advice(quality, question=record.question, calls=record.calls)


def _write_json(record: AnswerRecord, quality: AnswerQuality, output: Output) -> None:
    document = quality.to_dict()
    advice = _advice(record, quality, output)
    if advice is not None:
        document["advice"] = advice
    sys.stdout.buffer.write(encode(document, record.identity) + b"\n")
    sys.stdout.buffer.flush()


def _lines(record: AnswerRecord, quality: AnswerQuality, output: Output, *, underlines: bool) -> Iterable[Line]:
    verdict, style = ("escalate", "red") if quality.should_escalate else ("show", "green")
    yield [
        (f"{verdict:9}", f"bold {style}"),
        (f"{quality.score:<6g}", ""),
        (visible(record.name), ""),
        ("  " + kinds(quality), "dim"),
    ]
    yield from signal_lines(quality, underlines=underlines)
    advice = _advice(record, quality, output)
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
