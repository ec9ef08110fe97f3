"""`wrap`: a function that checks the arguments it is called with, for loops without a framework."""

import functools
import inspect
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from toolvet.agents.frameworks.guard import AgentGuard, GuardedCall, RefusedCall
from toolvet.errors import ToolvetError

P = ParamSpec("P")
R = TypeVar("R")


class CallRefusedError(ToolvetError):
    """A wrapped function was not called. Its text is for the model."""


def wrap(
    function: Callable[P, R], *, tool: object = None, guard: AgentGuard | None = None, conversation: str = ""
) -> Callable[P, R]:
    """Return a function that checks its arguments before it calls `function`, and judges what comes back.

    Args:
        function: The tool, sync or async; it is called with keyword arguments.
        tool: Its definition; None, the default, reads it from the function's annotations and docstring.
        guard: What decides; one with the default policies where there is none.
        conversation: An id of the run, as in `AgentGuard.call`.

    Raises (the returned function):
        CallRefusedError: The call must not be made; the text says what is wrong, and the call that would be right.

    Example:
        >>> from toolvet import wrap
        >>> def weather(city: str) -> str:
        ...     return f"{city}: 21 degrees"
        >>> checked = wrap(weather)
        >>> checked(city="Rome")
        'Rome: 21 degrees'
    """
    asked = guard if guard is not None else AgentGuard()
    definition: object = function if tool is None else tool
    # It is called with what was checked, which a type checker cannot know.
    called: Callable[..., Any] = function

    def begun(arguments: dict[str, Any]) -> GuardedCall:
        call = asked.call(conversation, definition, arguments)
        if isinstance(call, RefusedCall):
            raise CallRefusedError(call.text)
        return call

    if inspect.iscoroutinefunction(function):

        async def later(**arguments: Any) -> Any:
            call = begun(arguments)
            with call:
                result = await called(**call.arguments)
            text = call.returned(result)
            return result if text is None else text

        return functools.wraps(function)(later)  # type: ignore[return-value]

    def now(**arguments: Any) -> Any:
        call = begun(arguments)
        with call:
            result = called(**call.arguments)
        text = call.returned(result)
        return result if text is None else text

    return functools.wraps(function)(now)  # type: ignore[return-value]
