"""Asks the server's own validator about each call just before it is made; rules compare its answer with the call's."""

from collections.abc import Mapping, Sequence
from typing import Final

from toolvet.assess.line import Line
from toolvet.assess.rules import Preview, ToolDefinition, ValidationSeen
from toolvet.core.checks import (
    DEFAULT_METHOD,
    ValidationCall,
    ValidationRequest,
    announcement,
    misannounced,
    parse_reply,
)
from toolvet.mcp.transport import Answer, ConnectionLost, TimedOut, describe_reply

_MOST_ASKED: Final = 500  # Calls per assessment: asking doubles the traffic, and a validator that errs shows it sooner.
_MOST_FAILURES: Final = 3


class ValidationProbe:
    """Asks only a server that announces `toolValidation`, and stops when its validator is silent or fails."""

    def __init__(self, line: Line, capabilities: object) -> None:
        self._line = line
        self._announcement = announcement(capabilities)
        self._misannounced = misannounced(capabilities)
        self._asked = 0
        self._failures: list[str] = []
        self._silent = False

    async def ask(self, tool: str, arguments: Mapping[str, object]) -> Preview | None:
        """The validator's verdict on a call that is about to be made; None without one, or when it is not asked."""
        announced = self._announcement
        if announced is None or self._silent or self.validates_as(tool):
            return None
        if self._asked >= _MOST_ASKED or len(self._failures) >= _MOST_FAILURES:
            return None
        self._asked += 1
        request = ValidationRequest(calls=(ValidationCall(tool, dict(arguments)),))
        reply, session = await self._line.call(announced.method, request.to_dict())
        verdict = parse_reply(reply.result) if isinstance(reply, Answer) else f"It {describe_reply(reply)}."
        if isinstance(reply, ConnectionLost | TimedOut):
            self._silent = True
            if isinstance(reply, ConnectionLost) or not await self._line.responsive(session):
                await self._line.renew(session)
        if isinstance(verdict, str):
            self._failures.append(verdict)
            return None
        return Preview(reply=verdict, levels=announced.levels)

    async def ask_at_least_once(self, tools: Sequence[ToolDefinition]) -> None:
        """If no call was asked about, ask about an empty call of one of `tools`: any verdict shows that it works."""
        if not self._asked:
            others = [tool.name for tool in tools if tool.name and not self.validates_as(tool.name)]
            await self.ask(others[0] if others else "", {})

    def validates_as(self, tool: str) -> bool:
        """Whether this is the tool that validates the calls of the others."""
        return self._announcement is not None and self._announcement.method == tool

    @property
    def seen(self) -> ValidationSeen | None:
        """The capability, for the rules and the report; None when the server says nothing of it."""
        announced = self._announcement
        if announced is None and self._misannounced is None:
            return None
        problems = announced.problems if announced is not None else (self._misannounced or "",)
        return ValidationSeen(
            announced=announced is not None,
            method=announced.method if announced is not None else DEFAULT_METHOD,
            asked=self._asked,
            announcement_problems=problems,
            failures=tuple(self._failures),
        )
