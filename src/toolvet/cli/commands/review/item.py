"""One item of the review queue → lines for a terminal. Texts of servers and models are made visible, never obeyed."""

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Final

from rich.text import Text

from toolvet.core.json_value import elements, members
from toolvet.core.visible import one_line, shorten, visible
from toolvet.server.review import ReviewSignal, mark_evidence, review_signals, vocabulary
from toolvet.server.reviewing import verdict_words
from toolvet.store import RecordedTurn, VerdictRecord
from toolvet.store.queue_records import QueueItem

_MOST_TEXT: Final = 4_000
_MOST_VALUE: Final = 600
MINE: Final = "mine"
"""What a reviewer writes for the item that they have."""


def item_lines(
    item: QueueItem, turn: RecordedTurn | None, history: Sequence[Mapping[str, object]] = (), *, asks: bool = False
) -> Iterator[Text]:
    """Yield the item: what is asked, the text, its signals, the calls of its turn, and the labels that may be seen.

    `asks` says at the end how to answer.
    """
    verdict = item.verdict
    yield Text.assemble("item ", (item.id, "bold"), (f"  {one_line(item.rule)}", "dim"))
    if verdict is None:
        return
    yield from _question(verdict)
    asked = verdict.detail.get("question")
    if isinstance(asked, str) and asked:
        yield Text(f"Asked: {shorten(one_line(asked), _MOST_VALUE)}")
    if verdict.text is not None:
        yield Text()
        yield _marked(verdict.text, review_signals(verdict))
    yield from _signals(verdict)
    yield from _calls(verdict, turn)
    hidden = item.labelled - len(item.labels)
    if item.labels or history or hidden or asks:
        yield Text()
    if hidden:
        yield Text(f"{hidden} label{'s'[: hidden > 1]} of others: shown once you have labelled it", style="dim")
    for label in item.labels:
        said = ", ".join(f"{key}={value}" for key, value in label.signals.items())
        words = f"  {label.value}  {one_line(said)}  {one_line(label.note)}".rstrip()
        yield Text.assemble((one_line(label.reviewer), "bold"), words)
    for change in history:
        at = datetime.fromtimestamp(float(str(change["at"])), UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
        yield Text(f"{at}  {one_line(str(change['reviewer']))}  {_change_words(change)}", style="dim")
    if asks:
        keys = " [--signal KEY=right|wrong]" if review_signals(verdict) else ""
        yield Text(f"toolvet review label {MINE} VALUE{keys} [--note WORDS]", style="dim")


def _change_words(change: Mapping[str, object]) -> str:
    """Return what was done: `label right → wrong "it quotes the user"`."""
    before, after = members(change["before"]), members(change["after"])
    action = str(change["action"])
    if before.get("value") == after.get("value") and before.get("note") == after.get("note"):
        return action
    said = [str(each.get("value") or "nothing") for each in ((before, after) if before else (after,))]
    note = f' "{one_line(str(after["note"]))}"' if after.get("note") else ""
    return f"{action} {' → '.join(said)}{note}"


def _marked(text: str, signals: Sequence[ReviewSignal]) -> Text:
    """Return a text with the evidence of its signals underlined."""
    shown = Text()
    parts = mark_evidence(text, signals)
    for number, part in enumerate(parts):
        words = visible(part.text)
        room = _MOST_TEXT - len(shown)
        shown.append(words[:room], style="underline" if part.signals else "")
        if len(words) > room:
            left = len(words) - room + sum(len(each.text) for each in parts[number + 1 :])
            shown.append(f" … ({left:,} more characters)")
            break
    return shown


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
