"""How the verdicts on answers look on a terminal and as JSON, for the commands that judge answers."""

import json
import sys
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from typing import Final

import orjson
from rich.cells import cell_len
from rich.console import Console
from rich.status import Status
from rich.text import Text

from toolvet.checks.answer import AnswerQuality, FailureSignal
from toolvet.report.visible import visible

_MOST_SIGNALS: Final = 5  # Printed for one answer; --json has them all.
_MOST_EVIDENCE: Final = 120
PROGRESS_INTERVAL: Final = 500  # Answers between two updates of the progress line.


def signal_lines(quality: AnswerQuality, *, underlines: bool) -> Iterable[Text]:
    """Yield the evidence of each signal, up to a limit."""
    for signal in quality.signals[:_MOST_SIGNALS]:
        yield from _underline(signal, underlines=underlines)
    if len(quality.signals) > _MOST_SIGNALS:
        yield Text(f"    … {len(quality.signals) - _MOST_SIGNALS} more signals", style="dim")


def kinds(quality: AnswerQuality) -> str:
    """Return the types of the signals, each once."""
    return ", ".join(dict.fromkeys(_kind(signal) for signal in quality.signals))


def _kind(signal: FailureSignal) -> str:
    kind = signal.type.value
    return kind if signal.label in (None, kind) else f"{kind} ({signal.label})"


def _underline(signal: FailureSignal, *, underlines: bool) -> Iterable[Text]:
    """Yield the evidence underlined within its context; where there is no terminal, tildes underline it."""
    evidence = _on_one_line(signal.evidence[:_MOST_EVIDENCE])
    before, after = "", ""
    if signal.context and signal.evidence in signal.context:
        before, after = map(_on_one_line, signal.context.split(signal.evidence, 1))
    margin = f"    {signal.weight:<6g}"
    yield Text.assemble((margin, "dim"), (before, "dim"), (evidence, "bold underline yellow"), (after, "dim"))
    if underlines and evidence:
        yield Text(" " * cell_len(margin + before) + "~" * cell_len(evidence))
    if signal.against:
        yield Text(f"          against: {_on_one_line(signal.against[:_MOST_EVIDENCE])}", style="cyan")


def _on_one_line(text: str) -> str:
    return visible(text).replace("\n", " ").replace("\t", " ")


def encode(document: Mapping[str, object]) -> bytes:
    """Return a document as JSON."""
    try:
        return orjson.dumps(document, option=orjson.OPT_NON_STR_KEYS)
    except orjson.JSONEncodeError:
        # A lone surrogate is not a character; only the standard library writes it, as an escape.
        return json.dumps(document).encode("ascii")


@contextmanager
def show_progress() -> Generator[Status | None]:
    """Show a line on stderr where that is a terminal and the verdicts do not go to one."""
    if not sys.stderr.isatty() or sys.stdout.isatty():
        yield None
        return
    with Status("reading", console=Console(stderr=True)) as status:
        yield status
