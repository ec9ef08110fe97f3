"""Validate a call before it is made: by the server where it offers to, by the tool's schema everywhere else."""

import logging
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import cast

from toolvet.checks.capability import LEVELS, Announcement, Level, bare_name
from toolvet.client.catalogue import ToolDefinitions
from toolvet.client.connection import CallTool, Connection, Informed, ListTools, OfCallables, connection_of
from toolvet.client.fallback import by_schema
from toolvet.client.native import Native, Question
from toolvet.client.offer import Offer
from toolvet.client.validation import InvalidArgumentsError, NativeValidationError, Validation
from toolvet.errors import UsageError
from toolvet.schema.json_value import is_object

DEFAULT_TIMEOUT = 30.0
# What a server calls a changed tool, and what the protocol calls a changed list: both make ours stale.
_TOOLS_CHANGED = frozenset({"tool_update", "tools/list_changed", "notifications/tools/list_changed"})

_log = logging.getLogger("toolvet.client")


class Validator:
    """Asks one server about calls, before they are made.

    `connected` is an open `mcp.Client`, `mcp.ClientSession` or `fastmcp.Client`, a `toolvet.transport.Session`, or an
    async function `call_tool(name, arguments)`. Such a function needs `capabilities` (those of the initialize or
    discover result) and `tools` (the list, or an async function that reads it). Beside a client they go before its own.

    `levels` are asked for where the server announces levels; none means all. `context` is passed on to the server.
    With `require_native` the schema is no substitute: NativeValidationError instead. `timeout` is in seconds, for each
    request. `clock` tells seconds, for the lifetime of replies that the server lets us keep.

    One validator may be used by many tasks of one asyncio event loop at once. Raises UsageError for what cannot be
    asked.
    """

    def __init__(
        self,
        connected: object,
        *,
        capabilities: object = None,
        tools: Sequence[object] | ListTools | None = None,
        levels: Iterable[Level] = (),
        context: Mapping[str, object] | None = None,
        require_native: bool = False,
        timeout: float = DEFAULT_TIMEOUT,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._connection = _connection(connected, capabilities, tools)
        self._catalogue = ToolDefinitions(self._connection.list_tools)
        self._levels = tuple(levels)
        if unknown := set(self._levels) - set(LEVELS):
            raise UsageError(f"there is no level {', '.join(sorted(unknown))}; the levels are {', '.join(LEVELS)}")
        self._context = dict(context or {})
        self._require_native = require_native
        self._timeout = timeout
        self._clock = clock
        self._offer = Offer(self._connection.capabilities, clock)

    @property
    def announcement(self) -> Announcement | None:
        """How the server validates; None when it does not offer to."""
        return self._negotiated().announcement

    async def validate(self, tool: str, arguments: object) -> Validation:
        """The verdict on one call. `tool` may have a `server:` before it; `arguments` are any value.

        Raises NativeValidationError with `require_native`, UsageError when the client was closed. Nothing that the
        server does is raised: a validator that fails is told in `native_error` and `warnings`, and logged.
        """
        (validation,) = await self.validate_many([(tool, arguments)])
        return validation

    async def validate_many(self, calls: Iterable[tuple[str, object]]) -> tuple[Validation, ...]:
        """The verdicts on several calls, in their order; in batches where the server announces them.

        What a batch leaves open is asked call by call. After a request without any answer the rest is not sent.
        Raises as `validate` does.
        """
        offer = self._negotiated()
        questions = [Question(self._known(tool), arguments) for tool, arguments in calls]
        if offer.announcement is not None:
            asking = Native(
                self._connection,
                offer,
                offer.announcement,
                levels=self._levels,
                context=self._context,
                timeout=self._timeout,
            )
            await asking.answer(questions)
        return tuple([await self._verdict(offer, question) for question in questions])

    async def validate_or_raise(self, tool: str, arguments: object) -> Validation:
        """The verdict, if it is valid. Raises InvalidArgumentsError, whose text says how to mend the call."""
        validation = await self.validate(tool, arguments)
        if not validation.valid:
            raise InvalidArgumentsError(validation)
        return validation

    def invalidate(self, event: str | None = None) -> None:
        """Something changed: forget the verdicts that were kept.

        Without an `event` all of them, and the tool list. With one, only if the server said that this event ends them
        (`invalidateOn`). `tools/list_changed` and `tool_update` always end them, and the tool list is read again.
        """
        offer = self._negotiated()
        if event is None or event in _TOOLS_CHANGED:
            self._catalogue.forget()
            offer.cache.clear()
        elif event in offer.invalidate_on:
            offer.cache.clear()

    def _negotiated(self) -> Offer:
        """What the server offers now: a client that was opened anew may have met another server."""
        capabilities = self._connection.capabilities
        if capabilities is not self._offer.capabilities:
            self._offer = Offer(capabilities, self._clock)
            self._catalogue.forget()
        return self._offer

    def _known(self, tool: str) -> str:
        return tool if self._catalogue.knows(tool) else bare_name(tool)

    async def _verdict(self, offer: Offer, question: Question) -> Validation:
        """Of the server if it gave one, else of the schema."""
        notes = list(question.notes)
        if question.reply is not None:
            if lacking := offer.missing(self._levels):
                notes.append(lacking)
            announced = offer.announcement.levels if offer.announcement else ()
            return Validation(
                tool=question.tool,
                method="native",
                reply=question.reply,
                announced=True,
                levels=offer.levels(self._levels) or announced,
                notes=tuple(notes),
            )
        failure = question.failure or offer.problem
        if self._require_native and (failure or offer.announcement is None or is_object(question.arguments)):
            reason = failure or "it announces no toolValidation"
            raise NativeValidationError(reason, tool=question.tool, announced=offer.announced)
        if failure is not None:
            notes.append(f"The validation that the server announces failed, so only the schema was checked: {failure}")
            _log.warning("'%s' was checked by its schema only: %s", question.tool, failure)
        verdict = await by_schema(self._catalogue, question.tool, question.arguments, self._timeout)
        return Validation(
            tool=question.tool,
            method="schema",
            reply=verdict.reply,
            announced=offer.announced,
            native_error=failure,
            levels=("syntax",),
            notes=tuple(notes),
            report=verdict.report,
        )


async def negotiate_and_validate(
    *,
    capabilities: object,
    tools: Sequence[object] | ListTools,
    tool: str,
    arguments: object,
    call_tool: CallTool,
    levels: Iterable[Level] = (),
    context: Mapping[str, object] | None = None,
    require_native: bool = False,
    timeout: float = DEFAULT_TIMEOUT,  # noqa: ASYNC109 - for each request, and told in the verdict, not raised.
) -> Validation:
    """Validate one call with nothing but what an initialize or discover result and tools/list said.

    `call_tool(name, arguments)` makes a call and returns its result in any form. Nothing is kept between two calls of
    this function: for more than one question make a `Validator`. Raises as `Validator.validate` does.
    """
    validator = Validator(
        call_tool,
        capabilities={} if capabilities is None else capabilities,
        tools=tools,
        levels=levels,
        context=context,
        require_native=require_native,
        timeout=timeout,
    )
    return await validator.validate(tool, arguments)


def _connection(connected: object, capabilities: object, tools: Sequence[object] | ListTools | None) -> Connection:
    # A client of a library may be callable, too: only what is no client is taken for a function.
    if not callable(connected) or hasattr(type(connected), "list_tools"):
        connection = connection_of(connected)
        given = capabilities is not None or tools is not None
        return Informed(connection, capabilities, tools) if given else connection
    if capabilities is None or tools is None:
        raise UsageError("a call_tool function needs capabilities= and tools= beside it")
    return OfCallables(cast("CallTool", connected), capabilities, tools)
