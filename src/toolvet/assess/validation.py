"""The server's own validator, asked about each call just before it is made; rules compare that with what came."""

from collections.abc import Mapping, Sequence

from toolvet.assess.line import Line
from toolvet.checks.capability import (
    DEFAULT_METHOD,
    ValidationCall,
    ValidationRequest,
    announcement,
    misannounced,
    parse_reply,
)
from toolvet.rules import Preview, ToolDefinition, ValidationSeen
from toolvet.transport import Answer, ConnectionLost, TimedOut
from toolvet.transport.listing import in_words

_MOST_ASKED = 500  # Calls per assessment: asking doubles the traffic, and a validator that errs shows it sooner.
_MOST_FAILURES = 3


class ValidationProbe:
    """Asks only a server that announces `toolValidation`, and no longer than that makes sense."""

    def __init__(self, line: Line, capabilities: object) -> None:
        self._line = line
        self._announcement = announcement(capabilities)
        self._misannounced = misannounced(capabilities)
        self._asked = 0
        self._failures: list[str] = []
        self._silent = False

    async def ask(self, tool: str, arguments: Mapping[str, object]) -> Preview | None:
        """What the server says of a call before it is made; None when it says nothing, or is not asked."""
        announced = self._announcement
        if announced is None or self._silent or self.validates_as(tool):
            return None
        if self._asked >= _MOST_ASKED or len(self._failures) >= _MOST_FAILURES:
            return None
        self._asked += 1
        request = ValidationRequest(calls=(ValidationCall(tool, dict(arguments)),))
        reply, session = await self._line.call(announced.method, request.to_dict())
        verdict = parse_reply(reply.result) if isinstance(reply, Answer) else f"It {in_words(reply)}."
        if isinstance(reply, ConnectionLost | TimedOut):
            self._silent = True
            if isinstance(reply, ConnectionLost) or not await self._line.responsive(session):
                await self._line.renew(session)
        if isinstance(verdict, str):
            self._failures.append(verdict)
            return None
        return Preview(reply=verdict, levels=announced.levels)

    async def ask_at_least_once(self, tools: Sequence[ToolDefinition]) -> None:
        """Where no call was made that it could be asked about: any verdict will do, also that the arguments are bad."""
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
