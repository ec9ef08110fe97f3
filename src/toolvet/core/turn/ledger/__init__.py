"""The ledger of a turn: its request, its calls and its claims, and where the three disagree.

Nothing here asks a model, and every finding quotes both sides: the words of the answer (`evidence`) and what the calls
or the request say instead (`against`).

    request  Schedule 'Vendor Audit' for 2026-05-29 at 10:30, and send the invite to ann@corp.test.
    calls    create_event(title="Vendor Audit", start="2026-05-30T10:30") returned {"event_id": "evt_1"}
             send_invite(event_id="evt_1", to=["ann@corp.test"]) failed: 404 unknown event_id
    answer   'Vendor Audit' is booked for 2026-05-29 at 10:30, invite sent to ann@corp.test. Your fee is $59.90.

1. `request` reads what the person asks for: an action of the family `book` and one of the family `send`, and the names
   and values to do them with. A request proves nothing; it only shows what the answer is about.
2. `outcome` judges how each call ended (`check_result`) and what its tool can do, by its name; `entries` has what each
   call sent and returned. Here: `create_event` made something, `send_invite` failed.
3. `claims` finds claims of actions (by `phrases`, from `toolvet.core.languages`, by the words of the tools, and in any
   form where the request names the thing): "is booked", of the family `book`, and "sent", of the family `send`.
4. `support` looks for a call that did each, `work` for the runs of tests and builds that an answer reports. `alignment`
   pairs these with the claims, and the values of the claims with those of the calls and the request. It alone decides
   what a disagreement is called. Here: the day was asked for and is claimed, but the call sent another one. The invite
   failed, and no later call did its work. Had a later read not found `evt_1`, that would be `not_persisted`.
5. `traffic` finds calls and results that the answer writes itself.
6. `failures` looks for failed calls that the answer does not mention, and withdraws signals of the text if it honestly
   reports one. `extent` finds answers that take a part for the whole.
7. `mentions` reads the values of the answer, `evidence` has those of the calls and of the question. `figures` and
   `dates` derive further values from them. `values` compares: 59.90 is in no result and follows from none.

    wrong_value                    0.5   "2026-05-29"               create_event was called with 2026-05-30
    claimed_success_after_failure  0.85  "invite sent to ann@corp"  send_invite: 404 unknown event_id
    unsupported_number             0.08  "59.90"                    not in the results of create_event, send_invite
"""

from collections.abc import Sequence
from typing import NamedTuple

from toolvet.core.checks.answer import CallFailure, FailureSignal, PartialCall, SignalType
from toolvet.core.messages import ToolCall, earlier_calls, read_calls
from toolvet.core.turn.ledger.alignment import AFTER_FAILURE, TurnLedger
from toolvet.core.turn.ledger.claims import said
from toolvet.core.turn.ledger.evidence import Evidence
from toolvet.core.turn.ledger.extent import cut_calls, overstated
from toolvet.core.turn.ledger.failures import FailedCalls, reports_failure, tool_faults
from toolvet.core.turn.ledger.outcome import CallOutcome, TurnVocabulary, outcome_of
from toolvet.core.turn.ledger.request import PersonRequest
from toolvet.core.turn.ledger.support import moot_families
from toolvet.core.turn.ledger.traffic import invented_traffic
from toolvet.core.turn.ledger.values import unsupported

__all__ = ["ComparedAnswer", "ToolCall", "TurnWitness", "ground"]


def ground(
    text: str,
    calls: Sequence[object],
    question: str | Sequence[object] | None = None,
    signals: Sequence[FailureSignal] = (),
) -> list[FailureSignal]:
    """Return what `text` says that the tool calls of its turn do not support, in order of position. Total and pure.

    Args:
        text: The answer.
        calls: The tool calls of the turn in any shape that `read_calls` knows. Empty means that no tool was called:
            then only claims of actions are checked.
        question: What else the facts of the answer may come from: the person's message, or the messages of the
            conversation with their system prompt and earlier turns; what the assistant said in them counts for nothing.
        signals: The signals of the text alone. An answer that reports a failure does not keep silent about one.
    """
    return TurnWitness(calls, question).compare(text, signals).found


class ComparedAnswer(NamedTuple):
    """The remaining signals of the text, those of the calls, and the calls that failed or returned only a part."""

    kept: list[FailureSignal]
    found: list[FailureSignal]
    failed: tuple[CallFailure, ...]
    partial: tuple[PartialCall, ...]


class TurnWitness:
    """The request and the calls of one turn, read once for all answers that are compared with them.

    `given` are the calls and `question` the request, as the caller has them. `is_whole` says that no other call of the
    session is missing. `earlier` is that of the turn before in the same conversation: its calls are not judged again.
    """

    def __init__(
        self,
        calls: Sequence[object],
        question: str | Sequence[object] | None,
        *,
        is_whole: bool = True,
        earlier: "TurnWitness | None" = None,
    ) -> None:
        self.given = calls
        own = read_calls(calls)
        known: dict[int, CallOutcome] = {} if earlier is None else earlier.judged
        self.judged: dict[int, CallOutcome] = {
            id(call): known.get(id(call)) or outcome_of(call) for call in (*earlier_calls(question), *own)
        }
        """The outcomes by the identities of their calls, which they keep."""
        self._outcomes = [self.judged[id(call)] for call in own]
        # Results of earlier turns support what this one says; their failures do not count against it.
        mine = set(map(id, own))
        before = [each for key, each in self.judged.items() if key not in mine and not each.failed]
        self._every = [*before, *self._outcomes] if before else self._outcomes
        self._request = PersonRequest(question)
        self._vocabulary = TurnVocabulary(self._every)
        self._moot = moot_families(self._every)
        self.ledger = TurnLedger(self._every, self._request, is_whole=is_whole)
        self.question = question

    def compare(self, text: str, signals: Sequence[FailureSignal], *, goes_on: bool = False) -> ComparedAnswer:
        """Compare an answer with the calls of its turn.

        Of `signals`, those of the text alone, the ones are missing that honestly report what the calls say. `goes_on`
        says that another call follows the text, so that it need not say what failed.
        """
        outcomes, every, request = self._outcomes, self._every, self._request
        words = said(text, words=self._vocabulary, moot=self._moot, request=request)
        admits = reports_failure(words, signals)
        failures = FailedCalls(text, outcomes)
        found = self.ledger.disagreements(text, words, admits=admits, goes_on=goes_on)
        if not goes_on:
            found += invented_traffic(text, request, every)
        if not goes_on and not any(signal.label == AFTER_FAILURE for signal in found):
            found += failures.unmentioned(words, signals)
        if not goes_on and not any(signal.type is SignalType.TOOL_FAILURE for signal in (*signals, *found)):
            found += tool_faults(text, outcomes)
        found += overstated(text, outcomes)
        if every and not (admits and all(outcome.failed for outcome in every)):
            found += unsupported(text, Evidence(every, self.question))
        ordered = sorted(found, key=lambda signal: signal.position or 0)
        return ComparedAnswer(failures.kept(signals), ordered, failures.open_calls, cut_calls(outcomes))
