"""The work of `toolvet review`: a store and a reviewer → items, labels and figures."""

import getpass
import json
import sys
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Final, Literal

import msgspec
from rich.console import Console
from rich.text import Text

from toolvet.cli.options import note_action, store_url
from toolvet.cli.terminal import new_table
from toolvet.core.json_value import elements, members
from toolvet.core.settings import load_settings
from toolvet.core.visible import json_text, one_line, shorten, visible
from toolvet.errors import UsageError
from toolvet.server.review import ReviewSignal, mark_evidence, measure_agreement, review_signals, vocabulary
from toolvet.server.reviewing import (
    assign_item,
    change_document,
    export_document,
    hand_in,
    item_document,
    label_words,
    open_queue,
    reasons,
    verdict_words,
)
from toolvet.server.settings import ReviewSettings
from toolvet.store import RecordedTurn, Store, VerdictRecord
from toolvet.store.queue import ReviewQueue
from toolvet.store.queue_reading import ItemFilter
from toolvet.store.queue_records import QueueItem, QueueProgress
from toolvet.store.records import VerdictKind, clean_text

_MOST_WORDS = 200
_MOST_REVIEWERS = 100
_MOST_PRIORITY = 1000


def list_items(
    given: str | None,
    reviewer: str | None,
    *,
    state: Literal["open", "done", "disputed", "all"],
    kind: VerdictKind | None,
    rule: str | None,
    only_mine: bool,
    only_assigned: bool,
    limit: int,
    as_json: bool,
) -> int:
    """Print the queue. Returns the exit code."""
    if limit < 0:
        raise UsageError(f"--limit {limit}: it is a number of items, 0 or more")
    name = reviewer_name(reviewer)
    wanted = ItemFilter(
        state=None if state == "all" else state,
        kind=kind,
        rule=rule,
        reviewer=name if only_mine else None,
        assigned=name if only_assigned else None,
    )
    with _opened(given) as queue:
        items = queue.items(wanted, limit=limit, reader=name)
        total = queue.count(wanted)
        progress = queue.progress()
    if as_json:
        _write(
            {
                "items": [item_document(item, whole=False) for item in items],
                "total": total,
                "progress": _progress_document(progress),
            }
        )
        return 0
    console = Console(highlight=False, soft_wrap=True)
    if items:
        widest = max(len(one_line(item.rule)) for item in items)
        for item in items:
            words = text = ""
            if (verdict := item.verdict) is not None:
                score = "" if verdict.score is None else f" {verdict.score:g}"
                words = (one_line(", ".join(reasons(verdict))) or "nothing found") + score
                text = verdict.text if verdict.text is not None else verdict.reason or verdict.tool or ""
                text = shorten(one_line(text), _MOST_WORDS) or "an empty text"
            seen = f"{item.labelled} of {item.wanted} reviewed" + (", being reviewed" if item.leased_to else "")
            seen += f", for {one_line(', '.join(item.assigned))}" if item.assigned else ""
            seen += ", disputed" if item.is_disputed else ", settled" if item.final is not None else ""
            console.print(Text.assemble((item.id, "bold"), f"  {one_line(item.rule):{widest}}  {words}  {seen}"))
            console.print(Text(f"    {text}"), soft_wrap=False, no_wrap=True, overflow="ellipsis")
        console.print()
    if total > len(items):
        console.print(f"the first {len(items):,} of {total:,}; --limit shows more")
    console.print(f"{progress.open:,} open, {progress.done:,} done, {progress.labels:,} labels")
    return 0


def take_next(given: str | None, reviewer: str | None, *, as_json: bool) -> int:
    """Lease and print the next item. Returns 1 if there is none."""
    with _opened(given) as queue:
        item = queue.next(reviewer_name(reviewer))
        if item is not None:
            _print_item(queue.store, item, as_json=as_json, asks=True)
            return 0
    if as_json:
        _write(None)
    else:
        sys.stderr.write("nothing is left for you in the review queue\n")
    return 1


def show_item(given: str | None, reviewer: str | None, id_: str, *, with_history: bool, as_json: bool) -> int:
    """Print one item. Returns the exit code."""
    name = reviewer_name(reviewer)
    with _opened(given) as queue:
        item = _item(queue, id_, name)
        # What others did would say what others think.
        may_see_all = item.state == "done" or any(label.reviewer == name for label in item.labels)
        changes = queue.history(item.id, reviewer=None if may_see_all else name) if with_history else []
        _print_item(queue.store, item, as_json=as_json, history=[change_document(each) for each in changes])
    return 0


def label_item(
    given: str | None,
    reviewer: str | None,
    id_: str,
    value: str,
    *,
    signals: Sequence[str],
    missed: Sequence[str],
    note: str,
    final: bool,
    second_opinion: bool,
    as_json: bool,
) -> int:
    """Keep a label. Returns the exit code."""
    said: dict[str, str] = {}
    for signal in signals:
        key, equals, judged = signal.rpartition("=")
        if not equals:
            raise UsageError(f"--signal {signal}: write it as KEY=VALUE, such as 0:refusal=wrong")
        said[key.strip()] = judged.strip()
    named = {type_.strip(): words.strip() for type_, _, words in (each.partition("=") for each in missed)}
    name = reviewer_name(reviewer)
    with _opened(given) as queue:
        item = hand_in(
            queue,
            _item(queue, id_, name),
            name,
            value=value,
            note=note,
            signals=said,
            missed=named,
            final=final,
            second_opinion=second_opinion,
        )
    if as_json:
        _write(item_document(item, whole=False))
    elif final:
        sys.stderr.write(f"{name} settled it: {value}\n")
    else:
        sys.stderr.write(f"{name} says {value}; {item.labelled} of {item.wanted} reviewers have labelled it\n")
    return 0


def assign_to(given: str | None, reviewer: str | None, id_: str, to: str | None, *, as_json: bool) -> int:
    """Keep an item for a person. Returns the exit code."""
    name = reviewer_name(reviewer)
    with _opened(given) as queue:
        item = assign_item(queue, _item(queue, id_, name).id, to, load_settings(None), who=name)
    if as_json:
        _write(item_document(item, whole=False))
    else:
        whom = one_line(", ".join(item.assigned)) or "anybody who is free"
        sys.stderr.write(f"{item.id} is for {whom}\n")
    return 0


def skip_item(given: str | None, reviewer: str | None, id_: str, *, as_json: bool) -> int:
    """Leave an item to others. Returns the exit code."""
    name = reviewer_name(reviewer)
    with _opened(given) as queue:
        item = _item(queue, id_, name)
        queue.skip(item.id, name)
    if as_json:
        _write({"id": item.id, "skipped": True})
    else:
        sys.stderr.write(f"{item.id} is left to others; `toolvet review undo` takes that back\n")
    return 0


def release_item(given: str | None, reviewer: str | None, id_: str, *, as_json: bool) -> int:
    """Give a lease back. Returns 1 if there was none."""
    name = reviewer_name(reviewer)
    with _opened(given) as queue:
        item = _item(queue, id_, name)
        released = queue.release(item.id, name)
    if as_json:
        _write({"id": item.id, "released": released})
    else:
        sys.stderr.write(f"{item.id} is free again\n" if released else f"{name} does not have {item.id}\n")
    return int(not released)


def add_item(given: str | None, id_: str, *, priority: int, reviewers: int, as_json: bool) -> int:
    """Put a verdict into the queue. Returns the exit code."""
    if not 1 <= reviewers <= _MOST_REVIEWERS:
        raise UsageError(f"--reviewers {reviewers}: an item can have 1 to {_MOST_REVIEWERS}")
    if abs(priority) > _MOST_PRIORITY:
        raise UsageError(f"--priority {priority}: it is from -{_MOST_PRIORITY} to {_MOST_PRIORITY}")
    with _opened(given) as queue:
        item = queue.add(id_, priority=priority, reviewers=reviewers)
    if as_json:
        _write(item_document(msgspec.structs.replace(item, labels=()), whole=False))
    else:
        wants = f"{item.wanted} reviewer{'s'[: item.wanted > 1]}"
        sys.stderr.write(f"{item.id} is in the queue ({one_line(item.rule)}) and wants {wants}\n")
    return 0


def undo_last(given: str | None, reviewer: str | None, *, as_json: bool) -> int:
    """Take the last change back. Returns 1 if there is none."""
    with _opened(given) as queue:
        item = queue.undo(reviewer_name(reviewer))
    if as_json:
        _write(None if item is None else item_document(item, whole=False))
    elif item is None:
        sys.stderr.write("there is nothing to take back\n")
    else:
        sys.stderr.write(f"taken back: {item.id} is as it was before\n")
    return int(item is None)


def fill_queue(given: str | None, *, again: bool, as_json: bool) -> int:
    """Fill the queue. Returns the exit code."""
    with _opened(given) as queue:
        added = queue.fill(again=again)
        progress = queue.progress()
    if as_json:
        _write({"new": added, "progress": _progress_document(progress)})
        return 0
    sys.stderr.write(f"{added:,} new, {progress.open:,} open, {progress.done:,} done\n")
    return 0


def print_agreement(given: str | None, *, as_json: bool) -> int:
    """Print how far reviewers agree. Returns the exit code."""
    with _opened(given) as queue:
        agreement = measure_agreement(queue.labels(at_least=2))
    if as_json:
        _write(agreement)
        return 0
    console = Console(highlight=False, soft_wrap=True)
    if not agreement.pairs:
        console.print("No item has labels of two reviewers yet.")
        return 0
    table = new_table("reviewers", "items", "agreed", "kappa")
    for pair in agreement.pairs:
        names = Text(one_line(f"{pair.first}, {pair.second}"))
        table.add_row(names, f"{pair.items:,}", f"{pair.agreed:.0%}", _kappa(pair.kappa))
    table.add_row("all pairs", f"{agreement.items:,}", f"{agreement.agreed or 0:.0%}", _kappa(agreement.kappa))
    console.print(table)
    for item in agreement.disputed[:20]:
        console.print(f"disputed: {item}", markup=False)
    return 0


def export_labels(given: str | None, file: Path | None, *, as_json: bool) -> int:
    """Write all labels. Returns the exit code."""
    with _opened(given) as queue:
        note_action(queue.store, "export", f"labels to {file or 'stdout'}")
        if file is None:
            _write_labels(queue, sys.stdout)
            return 0
        try:
            with file.open("w", encoding="utf-8") as out:
                count = _write_labels(queue, out)
        except OSError as error:
            raise UsageError(f"{file}: {error.strerror or error}") from error
    if as_json:
        _write({"labels": count, "file": str(file)})
    else:
        sys.stderr.write(f"{count:,} labels in {file}\n")
    return 0


def reviewer_name(given: str | None) -> str:
    """Return whose labels these are: the name that was given, else the user of this machine."""
    if given is not None and given.strip():
        # A byte that is not UTF-8 arrives as half a surrogate pair, which no database accepts.
        return clean_text(given.strip())
    try:
        return getpass.getuser()
    except (KeyError, OSError) as error:
        raise UsageError("whose labels are these? Give --reviewer NAME") from error


def _item(queue: ReviewQueue, id_: str, name: str) -> QueueItem:
    if id_ != MINE:
        return queue.item(id_, name)
    item = queue.held(name)
    if item is None:
        raise UsageError(f"{name} has no item, or its lease ran out: take one with `toolvet review next`")
    return item


def _progress_document(progress: QueueProgress) -> dict[str, object]:
    return {"items": progress.items, "open": progress.open, "done": progress.done, "labels": progress.labels}


def _write_labels(queue: ReviewQueue, out: IO[str]) -> int:
    count = 0
    for label in queue.labels():
        out.write(json_text(export_document(label, queue.store.verdict(label.item)), is_line=True))
        count += 1
    return count


@contextmanager
def _opened(given: str | None) -> Generator[ReviewQueue]:
    settings = load_settings(None)
    with Store(store_url(given), missing="refuse") as store:
        if store.address.kind == "lines":
            raise UsageError(f"{store.address.shown} holds lines without a database: toolvet store import reads it")
        yield open_queue(store, settings[ReviewSettings])


def _print_item(
    store: Store,
    item: QueueItem,
    *,
    as_json: bool,
    history: Sequence[dict[str, object]] = (),
    asks: bool = False,
) -> None:
    trace = None if item.verdict is None else item.verdict.trace
    turn = None if trace is None else store.turn(trace)
    if as_json:
        extra: dict[str, object] = {"history": list(history)} if history else {}
        _write({**item_document(item), **extra})
        return
    console = Console(highlight=False, soft_wrap=True)
    for line in item_lines(item, turn, history, asks=asks):
        console.print(line)


def _kappa(kappa: float | None) -> str:
    return "-" if kappa is None else f"{kappa:.2f}"


def _write(document: object) -> None:
    sys.stdout.write(json_text(document))


_MOST_TEXT: Final = 4_000
_MOST_VALUE: Final = 600
MINE: Final = "mine"
"""The word by which a reviewer names the item that they have."""


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
    vocabulary_of_kind = vocabulary(verdict.kind)
    yield Text(one_line(vocabulary_of_kind.question.replace("{verdict}", verdict_words(verdict))))
    choices = ", ".join(f"{each.value} ({each.meaning})" for each in vocabulary_of_kind.values)
    yield Text(f"Answers: {choices}", style="dim")
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
    for label in (*item.labels, *([] if item.final is None else [item.final])):
        yield Text.assemble((one_line(label.reviewer), "bold"), f"  {one_line(label_words(label))}")
    for change in history:
        at = datetime.fromtimestamp(float(str(change["at"])), UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
        before, after = members(change["before"]), members(change["after"])
        words = str(change["action"])
        if before.get("value") != after.get("value") or before.get("note") != after.get("note"):
            # Such as `label right → wrong "it quotes the user"`.
            values = " → ".join(
                str(each.get("value") or "nothing") for each in ((before, after) if before else (after,))
            )
            note = f' "{one_line(str(after["note"]))}"' if after.get("note") else ""
            words = f"{words} {values}{note}"
        yield Text(f"{at}  {one_line(str(change['reviewer']))}  {words}", style="dim")
    if asks:
        keys = " [--signal KEY=right|wrong]" if review_signals(verdict) else ""
        keys += " [--missed TYPE=WORDS]" if vocabulary_of_kind.missed else ""
        yield Text(f"toolvet review label {MINE} VALUE{keys} [--note WORDS]", style="dim")


def _marked(text: str, signals: Sequence[ReviewSignal]) -> Text:
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
