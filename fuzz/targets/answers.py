"""`check_answer` and what compares answers, with every option, calls included."""

import json

from fuzz.draw import Draw
from fuzz.holds import holds
from fuzz.options import ANSWER, TURN

from toolvet import (
    AnswerCheck,
    best_answer,
    check_answer,
    check_answers,
    quality_summary,
    regeneration_advice,
)


def check(draw: Draw) -> None:
    """One answer in its turn."""
    text = draw.answer() if draw.byte() < 200 else draw.text()
    turn, options = draw.options(TURN), draw.options(ANSWER) if draw.byte() > 225 else {}
    try:
        quality = check_answer(text, **turn, **options)
    except ValueError:
        # Documented for options, and for nothing else.
        check_answer(text, **turn)
        holds(options.keys() & {"custom_patterns", "exceptions", "weights", "min_length"}, "no option is bad")
        return
    form = json.dumps(quality.to_dict())
    holds(json.dumps(AnswerCheck(**options)(text, **turn).to_dict()) == form, "another verdict")
    holds(0 <= quality.score <= 1 and 0 <= quality.assessment_confidence <= 1, "a number beyond 0 to 1")
    for signal in quality.signals:
        if signal.position is not None:
            holds(0 <= signal.position <= len(text), "a signal begins outside of the text")
        holds(0 <= signal.weight <= 1, "a weight beyond 0 to 1")
    calls, question = turn.get("calls"), turn.get("question")
    regeneration_advice(quality, question=question if isinstance(question, str) else None, calls=calls)
    json.dumps(quality_summary([quality, quality]).to_dict())
    if draw.byte() > 200:
        holds(check_answers([text, None], **options)[0] == check_answer(text, **options), "another verdict of several")
        best = best_answer([text, text], calls=calls, question=question, **options)
        holds(best.index == 0, "the second of two equal answers is better")
