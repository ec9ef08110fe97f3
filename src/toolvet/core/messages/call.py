"""The noun of the room: one tool call of a turn, and what came back."""

from typing import Final

import msgspec


class ToolCall(msgspec.Struct, frozen=True):
    """One tool call of a turn, and what came back.

    `result` is what the tool returned: text, any JSON value, an MCP result as a mapping or an object of the
    official SDK; None says that the call never returned (a tool that returns nothing is `""`), and `UNKNOWN` that the
    result was not handed over. `failed` is whether the call did not do what it was asked; None lets `check_result`
    judge that from the result. `id` is what the messages called it by.
    """

    name: str
    arguments: object = None
    result: object = None
    failed: bool | None = None
    id: str | None = None

    @property
    def answered(self) -> bool:
        """Whether there is a result.

        >>> ToolCall("ping").answered, ToolCall("ping", {}, "pong").answered
        (False, True)
        """
        return self.result is not None and not isinstance(self.result, Unknown)


class Unknown:
    """The type of `UNKNOWN`: a result that was not handed over, so how the call ended is not known."""

    def __repr__(self) -> str:
        return "UNKNOWN"


UNKNOWN: Final = Unknown()
