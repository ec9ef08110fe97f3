"""The work of `toolvet check answer`: answers in, verdicts out, one after the other as they are read."""

import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from toolvet.checks.answer import AnswerQuality
from toolvet.cli.commands.check.answer.records import AnswerRecord, read_answers
from toolvet.cli.commands.check.verdicts import (
    PROGRESS_INTERVAL,
    encode,
    kinds,
    show_progress,
    signal_lines,
)
from toolvet.report.visible import visible
from toolvet.settings import Settings, load_settings
from toolvet.turn import AnswerCheck, regeneration_advice

if TYPE_CHECKING:
    from toolvet.store import Store


@dataclass(frozen=True)
class Output:
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
    files: Sequence[str], fail_on: str, *, output: Output, settings: Path | None, given: Mapping[str, object]
) -> int:
    """Check every answer of every file; return 1 when one is as bad as `fail_on`, else 0.

    `given` are the options of the flags, None for those that were not given: the file `settings` decides about these.
    """
    loaded = load_settings(settings)
    options = loaded.answer_options()
    options.update({name: value for name, value in given.items() if value is not None})  # type: ignore[typeddict-item]
    check = AnswerCheck(**options)
    console = Console(highlight=False, soft_wrap=True)
    totals = _Totals()
    failed = False
    with ExitStack() as until_the_end:
        store = _open_store(output, loaded, until_the_end)
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
            _print_verdict(console, record, quality, output)
            if progress is not None and number % PROGRESS_INTERVAL == 0:
                progress.update(f"{number:,} answers")
    if not output.json:
        console.print(totals.line())
    return int(failed)


def _open_store(output: Output, settings: Settings, until_the_end: ExitStack) -> "Store | None":
    given = output.store or settings.store_settings().url
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


def _print_verdict(console: Console, record: AnswerRecord, quality: AnswerQuality, output: Output) -> None:
    advice = regeneration_advice(quality, question=record.question, calls=record.calls) if output.advice else None
    if output.json:
        document = {**record.identity, **quality.to_dict()}
        if advice is not None:
            document["advice"] = advice
        sys.stdout.buffer.write(encode(document) + b"\n")
        sys.stdout.buffer.flush()
        return
    verdict, style = ("escalate", "red") if quality.should_escalate else ("show", "green")
    line = Text.assemble(
        (f"{verdict:9}", f"bold {style}"),
        f"{quality.score:<6g}",
        visible(record.name),
        ("  " + kinds(quality), "dim"),
    )
    console.print(line)
    for printed in signal_lines(quality, underlines=not console.is_terminal):
        console.print(printed)
    if advice is not None:
        console.print(Text(f"    next time: {visible(advice)}", style="italic"))


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

    def line(self) -> Text:
        count = self._count or 1
        issues = ", ".join(f"{kind} {number}" for kind, number in self._issues.most_common())
        figures = (
            f"{self._count:,} answer{'' if self._count == 1 else 's'}, {self._escalated:,} to escalate "
            f"({self._escalated / count:.0%}), mean score {self._score / count:.2f}"
        )
        return Text(figures + (f"; {issues}" if issues else ""), style="bold")
