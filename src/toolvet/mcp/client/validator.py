"""`Validator`: validate a call before it is made, by the server where it offers that, else by the tool's schema.

An example: the call `book_flight({"seats": 0})`.

    capabilities of the server                    →  its offer (native.py): method "validate", levels, batches, caching
    tools/call validate {"tool": "book_flight",   →  a reply (native.py), kept where the server allows it:
      "arguments": {"seats": 0}}                     method "native", valid False, errors ("No seats are left.",)
    no offer, no answer, or an unreadable one     →  the inputSchema from tools/list: method "schema",
                                                     with `native_error` where the server had announced validation
"""

import asyncio
import logging
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Final, NamedTuple, cast

from toolvet.core.checks import (
    LEVELS,
    Announcement,
    ArgumentReport,
    Level,
    Message,
    ValidationReply,
    bare_name,
    check_arguments,
)
from toolvet.core.json_value import is_object, type_name
from toolvet.core.tools import view_of
from toolvet.errors import UsageError
from toolvet.mcp.client.connection import (
    CallTool,
    Connection,
    ListTools,
    OfCallables,
    OverriddenConnection,
    connection_of,
    reason_of,
)
from toolvet.mcp.client.native import NativeValidator, Offer, Question
from toolvet.mcp.client.validation import InvalidArgumentsError, NativeValidationError, OnValidationProgress, Validation

DEFAULT_TIMEOUT: Final = 30.0
# Names for a changed tool or a changed list: both make our list stale.
_TOOLS_CHANGED: Final = frozenset({"tool_update", "tools/list_changed", "notifications/tools/list_changed"})

_LOG: Final = logging.getLogger("toolvet.mcp.client")


class SchemaVerdict(NamedTuple):
    """The reply of the schema check, and its report where a tool was found."""

    reply: ValidationReply
    report: ArgumentReport | None = None


class ToolDefinitions:
    """Tool definitions by name. Safe for many tasks at once."""

    def __init__(self, list_tools: ListTools) -> None:
        self._list_tools = list_tools
        self._tools: Mapping[str, object] | None = None
        self._changes = 0
        self._reading = asyncio.Lock()

    def knows(self, name: str) -> bool:
        """Whether the tool was in the list when that was last read."""
        return self._tools is not None and name in self._tools

    async def find(self, name: str) -> object:
        """The definition; None if a list read just now does not have it. Raises what reading the list raises."""
        tools = self._tools
        if tools is None or name not in tools:
            tools = await self._read()
        return tools.get(name)

    def similar(self, name: str) -> tuple[str, ...]:
        """Names of tools that `name` may misspell, the nearest first."""
        return tuple(get_close_matches(name, list(self._tools or ()), n=3, cutoff=0.6))

    def forget(self) -> None:
        """Read the list again before it is next used, because it has changed."""
        self._tools = None
        self._changes += 1

    async def _read(self) -> Mapping[str, object]:
        before = self._tools
        async with self._reading:
            # Another task may have read it while we waited for the lock.
            if self._tools is not None and self._tools is not before:
                return self._tools
            changes = self._changes
            tools: dict[str, object] = {}
            for tool in await self._list_tools():
                # The first of two with the same name, and none without a name.
                if name := view_of(tool).name:
                    tools.setdefault(name, tool)
            if changes == self._changes:
                self._tools = tools
            return tools


class Validator:
    """Validates calls of one server before they are made.

    Many tasks of one asyncio event loop may use one validator at once.

    Args:
        connected: an open `mcp.Client`, `mcp.ClientSession` or `fastmcp.Client`, a `toolvet.mcp.transport.McpSession`,
            or an async function `call_tool(name, arguments)`.
        capabilities: those of the initialize or discover result. Required with a function; replaces those of a client.
        tools: the tool list, or an async function that reads it. Required with a function; replaces that of a client.
        levels: the levels to ask for, where the server announces levels; empty for all.
        context: passed on to the server's validator.
        require_native: raise NativeValidationError instead of checking the schema where the server does not judge.
        timeout: the limit for each request, in seconds.
        on_progress: a function, sync or async, that gets a ValidationProgress for each step of a server that announces
            `streaming`. Clients of the official SDK and of FastMCP pass these on; others stay silent.
        clock: the seconds that the lifetime of kept replies is counted in.

    Raises:
        UsageError: for a `connected` that cannot be asked, and for an unknown level.

    Example:
        >>> import asyncio
        >>> tools = [{"name": "sail", "inputSchema": {"type": "object", "required": ["port"]}}]
        >>> async def call_tool(name, arguments):
        ...     raise AssertionError("the server announces no validation, so it is not asked")
        >>> validator = Validator(call_tool, capabilities={}, tools=tools)
        >>> validation = asyncio.run(validator.validate("sail", {}))
        >>> validation.valid, validation.method, validation.errors
        (False, 'schema', ("port: Required. Add 'port': provide any value.",))
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
        on_progress: OnValidationProgress | None = None,
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
        self._on_progress = on_progress
        self._clock = clock
        self._offer = Offer(self._connection.capabilities, clock)

    @property
    def announcement(self) -> Announcement | None:
        """How the server validates; None if it does not offer to."""
        return self._negotiated().announcement

    async def validate(self, tool: str, arguments: object) -> Validation:
        """Validate one call.

        Args:
            tool: the name of the tool, perhaps with the prefix `server:`.
            arguments: any value.

        Returns:
            The verdict. Where the server's validator failed, `native_error` and `warnings` report it, and the log.

        Raises:
            NativeValidationError: with `require_native`, where the server did not judge.
            UsageError: for a client that was closed.
        """
        (validation,) = await self.validate_many([(tool, arguments)])
        return validation

    async def validate_many(self, calls: Iterable[tuple[str, object]]) -> tuple[Validation, ...]:
        """Validate several calls, in batches where the server announces them.

        Calls that a batch leaves open are asked one by one. After a request without any answer the rest is not sent.

        Args:
            calls: pairs of a tool and its arguments, as for `validate`.

        Returns:
            The verdicts, in the order of the calls. Raises as `validate` does.
        """
        offer = self._negotiated()
        knows = self._catalogue.knows
        questions = [Question(tool if knows(tool) else bare_name(tool), arguments) for tool, arguments in calls]
        if offer.announcement is not None:
            native = NativeValidator(
                self._connection,
                offer,
                offer.announcement,
                levels=self._levels,
                context=self._context,
                timeout=self._timeout,
                on_progress=self._on_progress,
            )
            await native.answer(questions)
        return tuple([await self._verdict(offer, question) for question in questions])

    async def validate_or_raise(self, tool: str, arguments: object) -> Validation:
        """The verdict on a valid call. Raises InvalidArgumentsError for others; its text says how to fix the call.

        `tool` and `arguments` are as for `validate`, which may raise, too.
        """
        validation = await self.validate(tool, arguments)
        if not validation.valid:
            raise InvalidArgumentsError(validation)
        return validation

    def invalidate(self, event: str | None = None) -> None:
        """Drop the verdicts that were kept, because something has changed.

        Args:
            event: the name of what happened. Verdicts are dropped only where the server has announced this event
                (`invalidateOn`). For `tools/list_changed`, `tool_update` and None they always are, and the tool list is
                read again.
        """
        offer = self._negotiated()
        if event is None or event in _TOOLS_CHANGED:
            self._catalogue.forget()
            offer.cache.clear()
        elif event in offer.invalidate_on:
            offer.cache.clear()

    def _negotiated(self) -> Offer:
        """Return the server's current offer: a client that was reopened may be connected to another server."""
        capabilities = self._connection.capabilities
        if capabilities is not self._offer.capabilities:
            self._offer = Offer(capabilities, self._clock)
            self._catalogue.forget()
        return self._offer

    async def _verdict(self, offer: Offer, question: Question) -> Validation:
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
            _LOG.warning("'%s' was checked by its schema only: %s", question.tool, failure)
        elif offer.announcement is None:
            log_fallback(question.tool)
        verdict = await validate_by_schema(self._catalogue, question.tool, question.arguments, self._timeout)
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
    timeout: float = DEFAULT_TIMEOUT,  # noqa: ASYNC109 - for each request; reported in the verdict, not raised.
) -> Validation:
    """Validate one call with only the server's capabilities, its tool list and a function that makes calls.

    Nothing is kept between two calls of this function: for more than one question make a `Validator`.

    Args:
        capabilities: those of the initialize or discover result.
        tools: the tool list, or an async function that reads it.
        tool: the name of the tool to validate a call of.
        arguments: those of the call: any value.
        call_tool: an async function `call_tool(name, arguments)` that makes a call and returns its result in any form.
        levels: as for `Validator`.
        context: as for `Validator`.
        require_native: as for `Validator`.
        timeout: as for `Validator`.

    Returns:
        The verdict. Raises as `Validator` and `Validator.validate` do.

    Example:
        >>> import asyncio
        >>> async def call_tool(name, arguments):
        ...     return {"structuredContent": {"valid": False, "errors": ["No such port."]}}
        >>> question = negotiate_and_validate(
        ...     capabilities={"experimental": {"toolValidation": {"supported": True}}},
        ...     tools=[{"name": "sail"}],
        ...     tool="sail",
        ...     arguments={"port": "Atlantis"},
        ...     call_tool=call_tool,
        ... )
        >>> asyncio.run(question).errors
        ('No such port.',)
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
    # A client of a library may be callable, too: only other callables are taken for functions.
    if not callable(connected) or hasattr(type(connected), "list_tools"):
        connection = connection_of(connected)
        given = capabilities is not None or tools is not None
        return OverriddenConnection(connection, capabilities, tools) if given else connection
    if capabilities is None or tools is None:
        raise UsageError("a call_tool function needs capabilities= and tools= beside it")
    return OfCallables(cast("CallTool", connected), capabilities, tools)


async def validate_by_schema(catalogue: ToolDefinitions, tool: str, arguments: object, timeout: float) -> SchemaVerdict:  # noqa: ASYNC109 - in seconds; reported, not raised.
    """The verdict of the tool's inputSchema.

    A call of a tool that is not in the list is not valid, and neither is any call while the list cannot be read. A tool
    without an inputSchema, or with one that does not compile, lets every object pass, with a warning.
    """
    try:
        async with asyncio.timeout(timeout):
            definition = await catalogue.find(tool)
    except Exception as error:  # noqa: BLE001 - any exception of a foreign client means that the list was not read.
        reason = f"no answer within {timeout:g} s" if isinstance(error, TimeoutError) else reason_of(error)
        return _refuse(f"The tool list could not be read, so nothing is known of '{tool}': {reason}")
    if definition is None:
        similar = " or ".join(f"'{name}'" for name in catalogue.similar(tool))
        return _refuse(f"The server has no tool '{tool}'" + (f"; did you mean {similar}?" if similar else "."))
    report = check_arguments(definition, arguments, unchecked="pass")
    if report.valid and not is_object(arguments):
        return _refuse(f"The arguments of '{tool}' must be an object, not {type_name(arguments)}.")
    unchecked = [f"The arguments of '{tool}' were not checked: {report.unchecked}."] if report.unchecked else []
    messages = (
        *(Message(f"{issue.field}: {issue.problem}. {issue.fix}", "error", issue.pointer) for issue in report.issues),
        *(Message(text, "warn") for text in unchecked),
        *(Message(suggestion, "info") for suggestion in report.suggestions),
    )
    return SchemaVerdict(ValidationReply(valid=report.valid, messages=messages), report)


def log_fallback(tool: str) -> None:
    """Write to the log that only the schema was checked, because the server announces no validation of its own."""
    _LOG.info("'%s' was checked by its schema only: the server announces no toolValidation", tool)


def _refuse(error: str) -> SchemaVerdict:
    return SchemaVerdict(ValidationReply(valid=False, messages=(Message(error),)))
