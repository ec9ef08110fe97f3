"""`/turn/{trace}`: answers, then arguments → result, each finding at its place; `/conversation/{id}`: its turns."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from toolvet.core.envelope import error_response, not_found_error
from toolvet.errors import UsageError
from toolvet.server.dashboard.page import Page, RequestContext
from toolvet.server.dashboard.view.entries import EntryView, entry_view, turn_entries
from toolvet.server.dashboard.view.formats import read_segment
from toolvet.server.failures import ApiError
from toolvet.store import VerdictFilter, VerdictRecord

_MOST_VERDICTS: Final = 500


def _fill_turn(context: RequestContext) -> Mapping[str, object]:
    trace = read_segment(context.path["trace"])
    try:
        turn = context.server.store.turn(trace, limit=_MOST_VERDICTS)
    except UsageError as error:
        several = "turns begin with" in f"{error}"
        raise ApiError(
            409 if several else 404, error_response(f"{error}") if several else not_found_error("turn", trace)
        ) from error
    entries = turn_entries(turn)
    ended = max(verdict.at + (verdict.duration or 0) for verdict in turn.verdicts)
    return {
        "turn": turn,
        "entries": entries,
        "labels": context.server.queue.labels_of([each.id for each in turn.verdicts], reader=context.person.name),
        "seconds": ended - turn.began,
        "conversation": next((each.conversation for each in turn.verdicts if each.conversation), None),
        "question": next((entry.question for entry in entries if entry.question), ""),
        "is_cut": len(turn.verdicts) == _MOST_VERDICTS,
        "failed": sum(not entry.is_good for entry in entries),
    }


@dataclass(frozen=True)
class ConversationTurn:
    """One turn of a conversation: its trace id (None for verdicts without one), its calls and its answers."""

    trace: str | None
    began: float
    calls: Sequence[VerdictRecord]
    answers: Sequence[EntryView]


def _fill_conversation(context: RequestContext) -> Mapping[str, object]:
    conversation = read_segment(context.path["conversation"])
    store = context.server.store
    found = store.page(VerdictFilter(conversation=conversation), limit=_MOST_VERDICTS, order="oldest").verdicts
    if not found:
        raise ApiError(404, not_found_error("conversation", conversation))
    turns: dict[str, list[VerdictRecord]] = {}
    for verdict in found:
        turns.setdefault(verdict.trace or verdict.id, []).append(verdict)
    shown: list[ConversationTurn] = []
    for key, verdicts in turns.items():
        trace = verdicts[0].trace
        # The calls of a turn know nothing of its conversation: the proxy sees no more than their trace id.
        every = store.turn(key, limit=_MOST_VERDICTS).verdicts if trace else verdicts
        shown.append(
            ConversationTurn(
                trace=trace,
                began=min(verdict.at for verdict in every),
                calls=[verdict for verdict in every if verdict.kind != "answer"],
                answers=[entry_view(verdict, with_calls=False) for verdict in every if verdict.kind == "answer"],
            )
        )
    return {
        "conversation": conversation,
        "turns": sorted(shown, key=lambda turn: turn.began),
        "is_cut": len(found) == _MOST_VERDICTS,
        "escalated": sum(verdict.escalate for verdict in found),
    }


PAGES = (
    Page("/turn/{trace}", "Turn", "turn.html.jinja", _fill_turn, section="/verdicts"),
    Page(
        "/conversation/{conversation}",
        "Conversation",
        "conversation.html.jinja",
        _fill_conversation,
        section="/verdicts",
    ),
)
