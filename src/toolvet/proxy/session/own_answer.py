"""The verdict on an answer that toolvet gives in place of a tool: what was stopped, why, and whose fault it is.

    refused arguments → business, invalid_input; retry: fix_arguments
    a dead server     → tool_failure, unavailable; retry: backoff

The state comes from the table of causes (`[stopped]` in `causes.toml`).
"""

from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

import msgspec

from toolvet.core.causes import State, cause_of, state_of_stop
from toolvet.core.checks import Classification, ResultCheck, ResultVerdict

Stop: TypeAlias = Literal[
    "arguments",  # refused: they break the tool's schema
    "limits",  # refused: they are too large or nested too deeply
    "repeated",  # refused: the same call failed too often in a row
    "unchanged",  # refused: the same calls brought the same results again and again
    "server_validation",  # refused: the server's own validator says no
    "result",  # held back: not a usable result
    "output_schema",  # held back: structured content that breaks the outputSchema
    "large_result",  # held back: too large
    "unanswered",  # the server ended, or cannot be reached
]
"""Why toolvet answers in place of a tool."""

_VAGUE: Final = (None, State.UNKNOWN, State.INTERNAL)
_SAYS: Final[Mapping[Stop, str]] = {
    "arguments": "Refused by toolvet, not sent to the server: the arguments are wrong",
    "limits": "Refused by toolvet, not sent to the server: the arguments are beyond a limit",
    "repeated": "Refused by toolvet, not sent to the server: the same call failed too often in a row",
    "unchanged": "Refused by toolvet, not sent to the server: the last calls brought nothing new",
    "server_validation": "Refused by toolvet, not called: the server's own validator says that it is wrong",
    "result": "Held back by toolvet, because the server sent no usable result",
    "output_schema": "Held back by toolvet, because the structured content breaks the tool's outputSchema",
    "large_result": "Held back by toolvet, because the result is beyond a limit",
    "unanswered": "Answered by toolvet, because the server did not",
}


def judge_own_answer(
    stop: Stop, why: str, *, tool: str, result: Mapping[str, object], check: ResultCheck, state: State | None = None
) -> ResultVerdict:
    """Return the verdict on `result`, an answer of toolvet's own to a call of `tool`.

    `why` explains the stop. `state` is what is known of the cause; None: what the table of causes has for this stop.
    """
    verdict = check({"name": tool}, {}, result)
    if stop == "unanswered" and verdict.state not in _VAGUE:
        # What is known of the connection says more: the server could not be reached, or wants credentials.
        state = verdict.state
    return stopped_verdict(stop, why, verdict, state)


def stopped_verdict(stop: Stop, why: str, verdict: ResultVerdict, state: State | None = None) -> ResultVerdict:
    """Return `verdict` with the cause of the stop in place of its own."""
    found = state if state is not None else state_of_stop(stop)
    is_business = found.is_business
    return msgspec.structs.replace(
        verdict,
        # A tool that was not asked, or refused a call, may work well; one that did not answer does not.
        is_valid=is_business,
        is_error=True,
        classification=Classification.FULLY_WORKING if is_business else Classification.ERROR,
        confidence=100.0 if is_business else 0.0,
        issues=(_SAYS[stop], *(issue for issue in verdict.issues if verdict.state is None)),
        evidence=(why,) if why else (),
        error_kind=cause_of(found).kind,
        state=found,
        retry=found.retry,
        factors=(),
        error_without_flag=False,
        leaks=(),
        framework=None,
        certainty=1.0,
        error_code=cause_of(found).error_code,
    )
