"""`turns`, `check_conversation` and `ConversationCheck`: messages in any format, tools, options."""

import contextlib
import json

from fuzz.draw import Draw
from fuzz.holds import holds
from fuzz.options import ANSWER

from toolvet import AnswerCheck, ConversationCheck, check_conversation, turns


def check(draw: Draw) -> None:
    """One conversation; a TypeError says that it is none."""
    messages = draw.several(draw.message, 6)
    if draw.byte() > 220:
        messages = {draw.one(("messages", "contents", "input", "conversations")): messages, "tools": draw.value()}
    elif draw.byte() > 240:
        messages = draw.value()
    tools = draw.one((None, None, 1)) and draw.several(draw.tool, 2)
    options = {} if draw.byte() < 200 else draw.options(ANSWER)
    try:
        found = turns(messages)
    except TypeError:
        return
    repr(found)
    for turn in found:
        holds(isinstance(turn.question, str), "a question is not a text")
        holds(turn.answer is None or isinstance(turn.answer, str), "an answer is not a text")
        if isinstance(messages, list):
            holds(all(0 <= index < len(messages) for index in turn.indices), "a turn has messages that are not there")
    with contextlib.suppress(ValueError):  # An option cannot be used.
        verdict = check_conversation(messages, tools=tools, **options)
        form = json.dumps(verdict.to_dict())
        judge = ConversationCheck(tools=tools, answers=AnswerCheck(**{"min_length": 1, **options}))
        holds(json.dumps(judge(messages).to_dict()) == form, "another verdict")
        holds(len(verdict.turns) == len(found), "a turn is missing")
