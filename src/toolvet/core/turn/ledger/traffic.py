"""Tool traffic that an answer writes itself: a call that was never made, or a result that no tool returned.

    Observation: {"temperature": 21}            no result of the turn has it
    <tool_call>{"name": "get_weather", …}       a call written as text: nothing ran it
    {"name": "get_weather", "arguments": {…}}   the same, as the whole answer

A code block only shows something, and JSON that the person asked to see is the answer.
"""

import re
from collections.abc import Iterator, Sequence

from toolvet.core.checks.answer import FailureSignal
from toolvet.core.json_value import is_object
from toolvet.core.turn.ledger.outcome import CallOutcome, decoded, names, signal_of
from toolvet.core.turn.ledger.request import PersonRequest
from toolvet.core.turn.ledger.tokens import without_code

INVENTED = "invented_tool_traffic"
_WEIGHT = 0.6
_LONGEST_CALL = 20_000
_MOST_TEXT = 200_000
_TAGS = re.compile(
    r"<(?:tool_call|tool_calls|function_calls?|tool_use|tool_response|tool_result|function_results?)>"
    r"|<invoke name=|<function=\w|<\|(?:tool_call|tool_calls_begin|python_tag)[^\n]{0,20}\|>|\[TOOL_CALLS?\]"
)
_RESULT = re.compile(
    r"^[ \t>*_#]{0,8}(?:Observation|(?:Tool|Function) (?:output|result|response))[ *_]{0,4}:[ *_]{0,4}"
    r"(?P<what>[\[{\"].{1,400})",
    re.IGNORECASE | re.MULTILINE,
)
_NAMES = ("name", "tool", "tool_name", "function", "action")
_ARGUMENTS = ("arguments", "parameters", "args", "input", "action_input", "tool_input")
_WANTS_JSON = re.compile(r"json|schema|function call|tool call|payload|format", re.IGNORECASE)


def invented_traffic(text: str, request: PersonRequest, outcomes: Sequence[CallOutcome]) -> Iterator[FailureSignal]:
    """Yield at most one signal: the answer contains a call as text, or a result that no call of the turn returned."""
    as_text = "it is a call written as text: no tool ran it"
    if text.lstrip()[:1] == "{" and _is_call(text) and _WANTS_JSON.search(request.text) is None:
        yield signal_of(text, (0, min(len(text), 120)), INVENTED, _WEIGHT, as_text)
        return
    if "<" not in text and ":" not in text and "[" not in text:
        return
    prose = without_code(text)
    tag = _TAGS.search(prose) if "<" in prose or "[" in prose else None
    if tag is not None and _WANTS_JSON.search(request.text) is None:
        yield signal_of(text, (tag.start(), min(len(text), tag.end() + 80)), INVENTED, _WEIGHT, as_text)
        return
    for found in _RESULT.finditer(prose):
        words = _letters(found["what"][:80])
        if not any(words in _letters("\n".join(outcome.texts)[:_MOST_TEXT]) for outcome in outcomes):
            where = f"not in the results of {names(outcomes)}" if outcomes else "no tool was called"
            span = found.start(), min(found.end(), found.start() + 120)
            yield signal_of(text, span, INVENTED, _WEIGHT, where)
            return


def _is_call(text: str) -> bool:
    if len(text) > _LONGEST_CALL:
        return False
    value = decoded(text)
    if not is_object(value):
        return False
    named = any(isinstance(value.get(key), str) for key in _NAMES)
    return named and any(key in value for key in _ARGUMENTS) and len(value) <= len(_NAMES)


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text.lower()))
