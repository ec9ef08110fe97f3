"""How the verdicts on answers look on a terminal and as JSON, for the commands that judge answers."""

import sys
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from toolvet.cli.terminal import Line, width_of
from toolvet.core.checks import AnswerQuality
from toolvet.core.visible import json_text, visible

if TYPE_CHECKING:
    from rich.status import Status

_MOST_SIGNALS: Final = 5  # Printed for one answer; --json has them all.
_MOST_EVIDENCE: Final = 120
PROGRESS_INTERVAL: Final = 500  # Answers between two updates of the progress line.


def signal_lines(quality: AnswerQuality, *, underlines: bool) -> Iterable[Line]:
    """Yield the evidence of each signal within its context, up to a limit; with `underlines`, tildes underline it."""
    for signal in quality.signals[:_MOST_SIGNALS]:
        evidence = _on_one_line(signal.evidence[:_MOST_EVIDENCE])
        before, after = "", ""
        if signal.context and signal.evidence in signal.context:
            before, after = map(_on_one_line, signal.context.split(signal.evidence, 1))
        margin = f"    {signal.weight:<6g}"
        yield [(margin, "dim"), (before, "dim"), (evidence, "bold underline yellow"), (after, "dim")]
        if underlines and evidence:
            yield [(" " * width_of(margin + before) + "~" * width_of(evidence), "")]
        if signal.against:
            yield [(f"          against: {_on_one_line(signal.against[:_MOST_EVIDENCE])}", "cyan")]
    if len(quality.signals) > _MOST_SIGNALS:
        yield [(f"    … {len(quality.signals) - _MOST_SIGNALS} more signals", "dim")]


def kinds(quality: AnswerQuality) -> str:
    """Return the types of the signals, each once."""
    found = [(signal.type.value, signal.label) for signal in quality.signals]
    return ", ".join(dict.fromkeys(kind if label in (None, kind) else f"{kind} ({label})" for kind, label in found))


def _on_one_line(text: str) -> str:
    return visible(text).replace("\n", " ").replace("\t", " ")


def encode(document: Mapping[str, object], identity: Mapping[str, object] | None = None) -> bytes:
    """Return a document as a line of JSON, after the members that identify its record."""
    return json_text({**(identity or {}), **document}, is_line=True).encode()


@contextmanager
def show_progress() -> "Generator[Status | None]":
    """Show a line on stderr where that is a terminal and the verdicts do not go to one."""
    if not sys.stderr.isatty() or sys.stdout.isatty():
        yield None
        return
    from rich.console import Console  # noqa: PLC0415 - only where it is shown
    from rich.status import Status  # noqa: PLC0415 - as above

    with Status("reading", console=Console(stderr=True)) as status:
        yield status
