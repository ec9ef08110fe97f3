"""The last message of an agent against the calls of its session → what is missing, None if nothing is.

"All tests pass."   no test was run after the last edit of src/a.py     → what to do before saying so
"I fixed the bug."  the last run of the tests failed, and it is not said → what to say

Only what the calls plainly contradict is found. Where anything is not known (the beginning of the session, what another
agent did, how a run ended), nothing is.
"""

from collections.abc import Callable, Sequence
from typing import Final, Literal

import msgspec

from toolvet.agents.hook.transcript import AgentSession
from toolvet.core.checks import AnswerQuality
from toolvet.core.messages import ToolCall
from toolvet.core.redact import redact_text
from toolvet.core.turn import (
    AFTER_FAILURE,
    ANNOUNCED,
    UNMENTIONED,
    AgentAction,
    AnswerCheck,
    TurnWitness,
    as_text,
    compiled,
    contradicts,
    finds,
    is_guarded,
    is_last_word,
    own_words,
    reports,
    sentences_of,
    work_table,
)

MARK: Final = "toolvet:"
"""Every refusal begins with it, so that a turn that one of them asked for is known."""

_MOST_MESSAGE: Final = 40_000
# As many as a turn is read with.
_MOST_CALLS: Final = 2_000

Why = Literal["not_run", "failed", "untold", "no_file", "claimed", "announced"]


class MissingWork(msgspec.Struct, frozen=True):
    """Why an agent is not done: which rule found it, the words of the message, and what the calls say."""

    why: Why
    said: str
    against: str

    def text(self) -> str:
        """Return the words for the agent."""
        said = redact_text(self.said.strip())[:200]
        return f'{MARK} the last message says "{said}", but {redact_text(self.against)}'


def missing(
    message: str | None,
    session: AgentSession,
    *,
    check: AnswerCheck,
    exists: Callable[[str], bool] = lambda _: True,
) -> MissingWork | None:
    """Return what the last message claims and the calls do not bear out.

    Args:
        message: the last message; None takes the one of the transcript.
        session: what the transcript says.
        check: how answers are judged.
        exists: whether there is a file at this path, relative to the agent's folder.
    """
    turn = session.turn
    text = message if message is not None else (turn.answer if turn is not None else None)
    if not text or turn is None or MARK in turn.question[-2000:]:
        return None
    said = own_words(text[-_MOST_MESSAGE:])
    calls = session.calls[-_MOST_CALLS:]
    is_whole = session.is_whole and len(calls) == len(session.calls)
    witness = TurnWitness(calls, turn.context, is_whole=is_whole)
    for run in witness.ledger.unproven(text):
        then = _MEND if run.why == "failed" else _RUN.format(noun=work_table().nouns[run.kind])
        return MissingWork(run.why, run.said, f"{run.against}. {then}")
    actions = witness.ledger.actions
    own = actions[max(0, len(actions) - len(turn.calls)) :]
    of_work = _unreported_failure(said, turn.question, own) or _unwritten(said, session, own, exists)
    if of_work is not None:
        return of_work
    found = check.compared(text, witness, ends=True)
    return (_contradicted(found, said, calls, actions) if is_whole else None) or _announced(found)


_MEND: Final = "Fix it and run it again, or say plainly what fails."
_RUN: Final = "Run {noun} and look at the result, or say that it was not run."


def _unreported_failure(said: str, question: str, own: Sequence[AgentAction]) -> MissingWork | None:
    """The message claims that the work is done, but its last tests failed, no edit followed, and no word says so."""
    table = work_table()
    edited = [at for at, action in enumerate(own) if action.what == "edit" and action.ended]
    runs = [at for at, action in enumerate(own) if "test" in action.kinds]
    if not edited or not runs or runs[-1] < edited[-1] or own[runs[-1]].ended is not False:
        return None
    if not is_last_word(own, runs[-1]) or reports(said) or _is_asked(question):
        return None
    sentence = next((each for each in sentences_of(said) if finds(table.done.patterns, each)), None)
    if sentence is None:
        return None
    return MissingWork(
        "untold",
        sentence,
        f"the last run of the tests failed ({own[runs[-1]].shown}), which it does not say. {_MEND}",
    )


def _unwritten(
    said: str, session: AgentSession, own: Sequence[AgentAction], exists: Callable[[str], bool]
) -> MissingWork | None:
    """The message claims that a file was written, but no call names the file and it does not exist."""
    if any(action.what == "hidden" for action in own):
        return None
    for sentence in sentences_of(said):
        for pattern in compiled(work_table().files.patterns):
            found = pattern.search(sentence)
            if found is None or is_guarded(sentence[: found.start("path")]):
                continue
            path = found["path"]
            name = path.rpartition("/")[2]
            if exists(path) or any(name in as_text(call.arguments) + as_text(call.result) for call in session.calls):
                continue
            return MissingWork(
                "no_file",
                sentence,
                f"no call wrote {name}, and there is no such file. Write it, or say that it is not written.",
            )
    return None


def _contradicted(
    found: AnswerQuality, said: str, calls: Sequence[ToolCall], actions: Sequence[AgentAction]
) -> MissingWork | None:
    """The message claims what the calls of the session contradict."""
    if any(action.what == "hidden" for action in actions):
        return None
    signals = [each for each in found.signals if each.source == "calls" and each.label != ANNOUNCED]
    signal = next((each for each in signals if contradicts(each)), None)
    if signal is None:
        # A failure that an honest answer would name.
        signal = next((each for each in signals if each.label == UNMENTIONED), None)
        if signal is None or reports(said):
            return None
        if not any(finds(work_table().done.patterns, each) for each in sentences_of(said)):
            return None
    elif not found.should_escalate:
        return None
    own = {call.name for call, action in zip(calls, actions, strict=False) if action.what != "other"}
    failed = signal.label in (AFTER_FAILURE, UNMENTIONED)
    if own and (not failed or any((signal.against or "").startswith(f"{name}:") for name in own)):
        # A shell can do anything, and a command that ended with 1 may have done what it was for.
        return None
    against = signal.against or "no call of this session did it"
    return MissingWork("claimed", signal.evidence, f"the calls say: {against}. Do it, or say that it was not done.")


def _announced(found: AnswerQuality) -> MissingWork | None:
    """The message ends with a step that is still to be made."""
    step = next((each for each in found.signals if each.label == ANNOUNCED), None)
    if step is None:
        return None
    return MissingWork(
        "announced", step.evidence, "no call follows. Make the step now, or leave it out and say what is left."
    )


def _is_asked(question: str) -> bool:
    return finds(work_table().asked.patterns, question[-4000:])
