"""Whether a tool's real work was ever seen: at least one valid call must have succeeded.

get_document("example.txt")   "Document example.txt does not exist"     a refusal: right, but not a success
get_document("b.txt")         "Document b.txt does not exist"           the same
exercise                      tried 2, succeeded 0; not exercised; a fixture would help
"""

import re
from collections.abc import Sequence
from typing import Final

import msgspec

from toolvet.assess.rules.ending import Ending, ending, is_bad, verdict_of, words_of
from toolvet.assess.rules.outage import outage_of_call
from toolvet.assess.rules.quote import quote
from toolvet.core.causes import ErrorKind, State
from toolvet.core.checks import is_foreign
from toolvet.core.json_value import is_array, is_object, members
from toolvet.core.tool_rules import ObservedCall

_SILENT: Final = frozenset({Ending.TIMEOUT, Ending.DIED, Ending.MALFORMED, Ending.WORDLESS})
# "No project is open. Call open_project first." is a refusal, whatever else the words are.
_ASKS_FOR_A_STEP: Final = re.compile(
    r"(?i)\b(?:call|run|use|invoke) (?:the )?[\"'`]?[A-Za-z]\w*_\w+[\"'`]?(?:\(\))? (?:tool )?(?:first|before)\b"
    r"|(?<!\bthe )\bfirst,? (?:call|run|use|invoke) (?:the )?[\"'`]?[A-Za-z]\w*_\w+"
)
_SHORTEST: Final = 2  # Characters; a text this short is in an error by chance.


class Exercise(msgspec.Struct, frozen=True, kw_only=True):
    """How the valid calls of a tool went: how many were `tried`, `succeeded`, and `failed` by the tool's own fault.

    `reason` says, for a tool that is not exercised, what was tried and what would help; "" for any other.
    """

    tried: int = 0
    succeeded: int = 0
    failed: int = 0
    reason: str = ""


def exercise_of(calls: Sequence[ObservedCall]) -> Exercise:
    """Return how the valid calls among `calls` (all of one tool) went."""
    valid = [call for call in calls if is_plain(call)]
    succeeded = sum(ending(call) is Ending.SUCCESS for call in valid)
    failed = sum(fails_by_itself(call) for call in valid)
    reason = _explain(valid) if calls and not succeeded and not failed else ""
    return Exercise(tried=len(valid), succeeded=succeeded, failed=failed, reason=reason)


def is_plain(call: ObservedCall) -> bool:
    """Whether a call asks for what the tool is there for: valid arguments, none of them made to be wrong or absent."""
    return call.breach is None and not call.absent and not is_bad(call)


def asks_for_nothing(call: ObservedCall) -> bool:
    """Whether a call has only empty values in what the tool requires, or in all that it sends: `{"paths": []}`."""
    sent = members(call.arguments)
    required = [sent[name] for name in call.tool.required if name in sent]
    values = required or list(sent.values())
    return bool(values) and all(map(_is_empty, values))


def _is_empty(value: object) -> bool:
    if isinstance(value, str):
        return not value.strip()
    return value is None or ((is_array(value) or is_object(value)) and not value)


def fails_by_itself(call: ObservedCall) -> bool:
    """Whether the answer shows a fault of the tool: no answer, a crash, an internal error, an error without words.

    Not an outage of the surroundings, not a refusal in any language, and not unclear words about a value that was sent
    ("Ref 'deadbeef' did not resolve").
    """
    ended = ending(call)
    if ended in _SILENT:
        return True
    verdict = verdict_of(call)
    if ended is Ending.UNFLAGGED_ERROR:
        own = (
            verdict is not None and verdict.error_kind is ErrorKind.TOOL_FAILURE and verdict.state is not State.UNKNOWN
        )
        return own and outage_of_call(call) is None
    if ended not in {Ending.FAILURE, Ending.PROTOCOL_FAILURE} or outage_of_call(call) is not None:
        return False
    words = words_of(call)
    unclear = verdict is not None and verdict.state is State.UNKNOWN
    refused = call.absent or _ASKS_FOR_A_STEP.search(words) or _speaks_of_a_value(words, call) or is_foreign(words)
    return not (unclear and refused)


def _speaks_of_a_value(words: str, call: ObservedCall) -> bool:
    values = (value for value in members(call.arguments).values() if isinstance(value, str))
    return any((len(value.strip()) > _SHORTEST and value in words) or f"'{value}'" in words for value in values)


def _explain(valid: Sequence[ObservedCall]) -> str:
    if not valid:
        return "No valid call was made; a fixture with good arguments would help."
    many = f"None of {len(valid)} valid calls succeeded" if len(valid) > 1 else "The valid call did not succeed"
    outage = next((missing for call in valid if (missing := outage_of_call(call)) is not None), None)
    if all(ending(call) is Ending.UNFINISHED for call in valid):
        return f"{many}: the server wants input or a task first, which an assessment cannot give."
    words = next((found for call in valid if (found := quote(words_of(call), 120))), "")
    said = f'{many}: "{words}"' if words else f"{many}."
    if outage is None:
        return f"{said} A fixture with arguments that exist where the server runs would help ([[fixtures.TOOL]])."
    # The words of an outage do not always name what is missing: "connection refused".
    name = outage.name
    help_with = {
        "variable": f"the environment variable {name} (--env {name})" if name else "an environment variable (--env)",
        "folder": f"the folder of {name}, there and writable" if name else "a disk that can be written",
        "program": f"the program {name}" if name else "a program that it starts",
        "host": f"the service at {name}, running and reachable" if name else "the service that it asks, reachable",
        "credential": "credentials for it (--env, --header)",
        "service": "what the server depends on, running and configured",
    }[outage.kind]
    return f"{said} Needed: {help_with}."
