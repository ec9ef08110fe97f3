"""Advice for the next attempt after a failed answer."""

from collections.abc import Iterator, Sequence

from toolvet.core.checks.answer import AnswerQuality
from toolvet.core.checks.answer.wording import advice, turn_words

_MOST_TOOLS = 5  # Named in one sentence.
_LONGEST_NAME = 60
_LONGEST_QUESTION = 200


def regeneration_advice(
    quality: AnswerQuality, *, question: str | None = None, calls: Sequence[object] | None = None
) -> str | None:
    """Return an instruction for the model before it answers again, in a few sentences; None where nothing is wrong.

    Args:
        quality: The verdict on the failed answer. Its signals give one sentence for each kind, the gravest first and
            three at most.
        question: What was asked. It is repeated at the end, because the next attempt may see nothing else of the turn.
        calls: The tool calls of the turn, as `check_answer` takes them: the advice names those that returned something
            and those that failed.

    Example:
        >>> from toolvet import check_answer
        >>> regeneration_advice(check_answer("The museum opens at nine and closes at six."))
    """
    sentences = advice(quality.signals)
    if not sentences:
        return None
    if calls:
        sentences += _on_calls(calls)
    asked = " ".join((question or "").split())
    if asked:
        shown = asked if len(asked) <= _LONGEST_QUESTION else f"{asked[: _LONGEST_QUESTION - 1].rstrip()}…"
        sentences.append(turn_words("question").replace("{question}", shown))
    return " ".join(sentences)


def _on_calls(calls: Sequence[object]) -> Iterator[str]:
    # Loaded only when calls are given (start-up time).
    from toolvet.core.messages import read_calls  # noqa: PLC0415
    from toolvet.core.turn.grounding.outcome import outcome_of  # noqa: PLC0415

    outcomes = [outcome_of(call) for call in read_calls(calls)]
    # A call that was corrected and made again did what it was for.
    last = {each.call.name: each for each in outcomes}
    outcomes = [each for each in outcomes if each.failed is not True or last[each.call.name] is each]
    for key, failed in (("returned", False), ("failed", True)):
        named = dict.fromkeys(
            each.call.name[:_LONGEST_NAME] for each in outcomes if each.call.name and each.failed is failed
        )
        if named:
            yield turn_words(key).replace("{tools}", ", ".join(list(named)[:_MOST_TOOLS]))
