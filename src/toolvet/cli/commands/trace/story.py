"""The work of `toolvet trace`: a store and a trace id → the story of one turn, or a list of the latest turns."""

import json
import os
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import Final, TypeAlias

import msgspec
from rich.console import Console
from rich.text import Text

from toolvet.cli.commands.review.run import reviewer_name
from toolvet.cli.options import store_url
from toolvet.cli.terminal import new_table
from toolvet.core.causes import GOOD_OUTCOMES
from toolvet.core.json_value import elements, members
from toolvet.core.visible import json_text, one_line, shorten
from toolvet.errors import UsageError
from toolvet.server.reviewing import label_document, label_words
from toolvet.store import RecordedTurn, Store, VerdictRecord
from toolvet.store.queue import ReviewQueue
from toolvet.store.queue_records import ReviewLabel

_SHOWN_ID = 16
Labels: TypeAlias = Mapping[str, Sequence[ReviewLabel]]
"""What people said, by the id of the verdict."""


def tell_turn(given: str | None, trace_id: str, *, as_json: bool) -> int:
    """Print the turn with this id, or the only one whose id begins so. Returns the exit code."""
    with Store(store_url(given), missing="refuse") as store:
        turn = store.turn(trace_id)
        said = _labels(store, [turn])
    if as_json:
        _write(_document(turn, said))
        return 0
    console = Console(highlight=False, soft_wrap=True)
    for line in story(turn, said):
        console.print(line)
    return 0


def list_turns(given: str | None, *, as_json: bool) -> int:
    """Print the latest turns, the newest first. Returns the exit code."""
    with Store(store_url(given), missing="refuse") as store:
        turns = store.latest_turns()
        said = _labels(store, turns)
    if as_json:
        _write([_document(turn, said) for turn in turns])
        return 0
    console = Console(highlight=False, soft_wrap=True)
    if not turns:
        console.print(f"{store_url(given)} has no turns yet.")
        return 0
    table = new_table("began (UTC)", "turn", "calls", "went wrong", "answer")
    for column in table.columns[:2]:
        column.no_wrap = True
    for turn in turns:
        answers = ", ".join("escalate" if answer.escalate else "show" for answer in turn.answers)
        began = datetime.fromtimestamp(turn.began, UTC).strftime("%Y-%m-%d %H:%M:%S")
        called = Counter(one_line(call.tool or "") for call in turn.calls)
        faults = Counter(call.outcome for call in turn.calls if call.outcome not in GOOD_OUTCOMES)
        table.add_row(began, Text(turn.trace[:_SHOWN_ID]), Text(_counted(called)), Text(_counted(faults)), answers)
    console.print(table)
    console.print("\ntoolvet trace ID tells one of them.", style="dim")
    return 0


def _counted(counts: Counter[str]) -> str:
    return ", ".join(word if number == 1 else f"{number} {word}" for word, number in counts.items())


def _labels(store: Store, turns: Sequence[RecordedTurn]) -> Labels:
    """Return what people said of the verdicts: of items that are done, and of those that this user labelled."""
    if store.address.kind == "lines":
        return {}
    ids = [verdict.id for turn in turns for verdict in turn.verdicts]
    reader = os.environ.get("TOOLVET_REVIEWER") or ""
    with suppress(UsageError):  # A user without a name, as in a container, has no labels.
        reader = reviewer_name(reader)
    return ReviewQueue(store).labels_of(ids, reader=reader)


def _document(turn: RecordedTurn, said: Labels) -> Mapping[str, object]:
    entries: list[Mapping[str, object]] = []
    for verdict in turn.verdicts:
        fields: dict[str, object] = msgspec.structs.asdict(verdict)
        del fields["document"], fields["seq"]
        signals = [msgspec.structs.asdict(signal) for signal in verdict.signals]
        labels = [label_document(label) for label in said.get(verdict.id, ())]
        entries.append({**fields, "signals": signals, "labels": labels, "detail": verdict.detail})
    return {"trace_id": turn.trace, "began": turn.began, "entries": entries}


def _write(document: object) -> None:
    sys.stdout.write(json_text(document))


_INDENT: Final = 4
_LABEL: Final = 11
_MOST_TEXT: Final = 400
_MOST_LINES: Final = 5  # Of issues, evidence and signals; --json has them all.
_OUTCOMES: Final = {
    "success": "answered",
    "tool_error": "failed",
    "protocol_error": "failed with a protocol error",
    "input_required": "asked back",
    "task": "goes on as a task",
    "validated": "validated by toolvet",
    "retrieved": "retrieved from what toolvet keeps",
    "cancelled": "cancelled by the client",
    "unreadable": "answered with something that is not a legal message",
    "lost": "was not answered",
}
_REASONS: Final = {
    "arguments": "the arguments are wrong",
    "limits": "too large",
    "repeated": "it failed too often in a row",
    "unchanged": "the last calls brought nothing new",
    "server_validation": "the server's own validator refused it",
    "definition": "the tool is not what its lock says, or its texts steer the model",
    "contract": "the result leaves its contract in the lock",
    "interceptor": "an interceptor blocked it",
    "steering": "the result steers the model",
}


def story(turn: RecordedTurn, said: Labels) -> Iterator[Text]:
    """Yield the lines of a turn: a heading, then every call and answer in the order in which they happened."""
    yield Text.assemble("turn ", (turn.trace, "bold"))
    began = datetime.fromtimestamp(turn.began, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    ended = max(verdict.at + (verdict.duration or 0) for verdict in turn.verdicts)
    heading = [began, _count(len(turn.calls), "call")]
    if turn.answers:
        heading.append(_count(len(turn.answers), "answer"))
    yield Text(", ".join([*heading, _seconds(ended - turn.began)]), style="dim")
    for verdict in turn.verdicts:
        yield Text()
        yield from _call(verdict) if verdict.kind == "call" else _answer(verdict)
        for label in said.get(verdict.id, ()):
            yield _line("reviewed", f"{label.reviewer}: {label_words(label)}", style="bold")
    if turn.calls and all("arguments" not in call.detail for call in turn.calls):
        yield Text()
        yield Text('Arguments and results were not recorded; record = "calls" in [proxy] keeps them.', style="dim")
    if not turn.answers:
        yield Text()
        yield Text("The answer was not handed in: toolvet check answer --store FILE does that.", style="dim")


def _call(call: VerdictRecord) -> Iterator[Text]:
    detail, verdict = call.detail, members(call.detail.get("verdict"))
    happened, style = _happened(call, verdict)
    yield Text.assemble(
        (_clock(call.at), "dim"),
        "  ",
        (one_line(call.tool or ""), "bold"),
        "  ",
        (happened, style),
        (f"  ({call.server})", "dim"),
    )
    if "arguments" in detail:
        yield _line("arguments", json.dumps(detail["arguments"], ensure_ascii=False))
    for step in elements(members(detail.get("repaired")).get("steps")):
        yield _line("repaired", f"{step}", style="yellow")
    if detail.get("why"):
        yield _line("why", f"{detail['why']}")
    if detail.get("would_block"):
        reason = f"{detail['would_block']}"
        yield _line("audit", f"would have been refused: {_REASONS.get(reason, reason)}")
    for issue in elements(detail.get("issues"))[:_MOST_LINES]:
        found = members(issue)
        yield _line(
            "", f"- {found.get('field')}: {found.get('problem', found.get('message'))}. {found.get('fix') or ''}"
        )
    text = "\n".join(
        f"{members(block).get('text', '')}" for block in elements(members(detail.get("result")).get("content"))
    )
    if text.strip():
        yield _line("result", text)
    if detail.get("unjudged"):
        yield _line("verdict", f"not judged: {detail['unjudged']}")
    if not verdict:
        return
    words = [f"{verdict[key]}" for key in ("error_kind", "state") if verdict.get(key)] or [
        f"{verdict['classification']}"
    ]
    retry = f"; retry: {verdict['retry']}" if verdict.get("retry") else ""
    yield _line("verdict", ", ".join(words) + retry, style="bold")
    if words == ["fully_working"]:
        return
    said = [*elements(verdict.get("issues")), *elements(verdict.get("evidence"))]
    for each in [each for each in said if each != detail.get("why")][:_MOST_LINES]:
        yield _line("", f"- {each}")


def _happened(call: VerdictRecord, verdict: Mapping[str, object]) -> tuple[str, str]:
    after = "" if call.duration is None else f" after {_seconds(call.duration)}"
    if call.outcome == "refused":
        reason = _REASONS.get(call.blocked or "", call.blocked)
        return f"refused by toolvet, not sent: {reason}", "red"
    code = f" {call.detail['code']}" if "code" in call.detail else ""
    happened = f"{_OUTCOMES.get(call.outcome, call.outcome)}{code}{after}"
    if call.blocked is not None:
        return f"{happened}; toolvet held the result back", "red"
    if verdict.get("error_without_flag"):
        return f"{happened}, with an error that is not flagged as one", "yellow"
    return happened, "green" if call.outcome in GOOD_OUTCOMES else "red"


def _answer(answer: VerdictRecord) -> Iterator[Text]:
    verdict, style = ("escalate", "red") if answer.escalate else ("show", "green")
    yield Text.assemble(
        (_clock(answer.at), "dim"), ("  answer  ", "bold"), (f"{verdict}, score {answer.score or 0:g}", style)
    )
    if answer.text is not None:
        yield _line("text", answer.text)
    for signal in elements(answer.detail.get("signals"))[:_MOST_LINES]:
        found = members(signal)
        label = f" ({found['label']})" if found.get("label") not in (None, found.get("type")) else ""
        yield _line(
            "signal", f"{found.get('type')}{label}, {found.get('weight'):g}: {found.get('evidence')}", style="yellow"
        )
        if found.get("against"):
            yield _line("", f"against: {found['against']}")


def _line(label: str, text: str, style: str = "") -> Text:
    shown = shorten(one_line(text), _MOST_TEXT)
    return Text.assemble(" " * _INDENT, (f"{label:{_LABEL}}", "dim"), (shown, style))


def _clock(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%H:%M:%S.%f")[:-3]


def _seconds(seconds: float) -> str:
    return f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
