"""One item of the review queue → lines for a terminal. Texts of servers and models are made visible, never obeyed."""

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Final

from rich.text import Text

from toolvet.dashboard.reviewing import verdict_words
from toolvet.report.visible import one_line, shorten, visible
from toolvet.review import review_signals, vocabulary
from toolvet.schema.json_value import elements, members
from toolvet.store import RecordedTurn, VerdictRecord
from toolvet.store.queue_records import QueueItem

_MOST_TEXT: Final = 4_000
_MOST_VALUE: Final = 600


def item_lines(
    item: QueueItem, turn: RecordedTurn | None, history: Sequence[Mapping[str, object]] = ()
) -> Iterator[Text]:
    """Yield the item: what is asked, the text, its signals, the calls of its turn, and the labels that may be seen."""
    verdict = item.verdict
    yield Text.assemble("item ", (item.id, "bold"), (f"  {one_line(item.rule)}", "dim"))
    if verdict is None:
        return
    yield from _question(verdict)
    if verdict.text is not None:
        yield Text()
        yield Text(shorten(visible(verdict.text), _MOST_TEXT))
    yield from _signals(verdict)
    yield from _calls(verdict, turn)
    if item.labels or history:
        yield Text()
    for label in item.labels:
        said = ", ".join(f"{key}={value}" for key, value in label.signals.items())
        words = f"  {label.value}  {one_line(said)}  {one_line(label.note)}".rstrip()
        yield Text.assemble((one_line(label.reviewer), "bold"), words)
    for change in history:
        at = datetime.fromtimestamp(float(str(change["at"])), UTC).strftime("%Y-%m-%d %H:%M:%S")
        value = members(change["after"]).get("value", "")
        yield Text(f"{at}  {one_line(str(change['reviewer']))}  {change['action']} {value}", style="dim")


def _question(verdict: VerdictRecord) -> Iterator[Text]:
    words = vocabulary(verdict.kind)
    yield Text(one_line(words.question.replace("{verdict}", verdict_words(verdict))))
    said = ", ".join(f"{each.value} ({each.meaning})" for each in words.values)
    yield Text(f"Answers: {said}", style="dim")


def _signals(verdict: VerdictRecord) -> Iterator[Text]:
    signals = review_signals(verdict)
    if signals:
        yield Text()
    for signal in signals:
        label = f" ({one_line(signal.label)})" if signal.label else ""
        evidence = f': "{one_line(signal.evidence)}"' if signal.evidence else ""
        yield Text.assemble((one_line(signal.key), "yellow"), f"{label}{evidence}")
        if signal.against:
            yield Text(f"    against: {one_line(signal.against)}")


def _calls(verdict: VerdictRecord, turn: RecordedTurn | None) -> Iterator[Text]:
    given = [members(call) for call in elements(verdict.detail.get("calls"))]
    recorded = [{"tool": call.tool, **call.detail} for call in turn.calls] if turn is not None else []
    for call in given or recorded:
        yield Text()
        failed = "  failed" if call.get("failed") else ""
        yield Text.assemble((one_line(str(call.get("tool") or "")), "bold"), (failed, "red"))
        for name in ("arguments", "result"):
            if name in call:
                shown = shorten(one_line(json.dumps(call[name], ensure_ascii=False, default=str)), _MOST_VALUE)
                yield Text.assemble((f"    {name:10}", "dim"), shown)
