"""Validation for servers of the official SDK, `Server` and `MCPServer` (extra `mcp`).

    enable_validation(server, validation)

All of it is one middleware of the server. The SDK calls its `middleware` attribute provisional (mcp 2.x).
"""

import logging
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final, Literal

from mcp.server import MCPServer, Server
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.types import SERVER_INFO_META_KEY
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from mcp import MCPError
from toolvet.agents.integrations.validation.answer import answered
from toolvet.agents.integrations.validation.tool_validation import ToolValidation
from toolvet.core.checks import EXTENSION_ID
from toolvet.core.json_value import elements, is_object, members

_LOG: Final = logging.getLogger("toolvet.validation")
# A listing with more pages than this is taken for an endless one.
_MOST_PAGES: Final = 1000
_Context = ServerRequestContext[Any, Any]


def enable_validation(server: Server[Any] | MCPServer[Any], validation: ToolValidation | None = None) -> ToolValidation:
    """Announce `toolValidation`, add the `validate` tool, and refuse invalid calls with a report on how to fix them.

    Call it once, before the server runs.

    Args:
        server: a low-level `Server` or an `MCPServer`.
        validation: what is validated; a new ToolValidation with its defaults without it.

    Returns:
        The validation, for `@validation.validator(…)`.

    Example:
        >>> from mcp.server import Server
        >>> validation = enable_validation(Server("harbour"))
        >>> validation.levels
        ('syntax',)
    """
    found = validation if validation is not None else ToolValidation()
    server.middleware.append(ToolValidationMiddleware(found))
    return found


class ToolValidationMiddleware:
    """Handles `initialize`, `server/discover`, `tools/list` and `tools/call`; other messages pass unchanged.

    For each call the tool's definition is looked up in the server's own `tools/list`, because callers may see different
    ones; the cost grows with the number of tools. The `validate` tool hides a tool of the server that has its name, and
    the log reports that.
    """

    def __init__(self, validation: ToolValidation) -> None:
        self._validation = validation

    async def __call__(self, ctx: _Context, call_next: CallNext) -> HandlerResult:
        """Handle one message."""
        if ctx.method == "tools/call":
            return await self._handle_call(ctx, call_next)
        result = await call_next(ctx)
        if not is_object(result):
            return result
        if ctx.method == "initialize":
            return self._announce(result, "legacy")
        if ctx.method == "server/discover":
            return self._announce(result, "modern")
        if ctx.method != "tools/list":
            return dict(result)
        tools: list[object] = []
        for tool in elements(result.get("tools")):
            if members(tool).get("name") != self._validation.method:
                tools.append(tool)
                continue
            _LOG.error(
                "the server's tool %r is hidden by the one that validates; give ToolValidation another method",
                self._validation.method,
            )
        if result.get("nextCursor") is None:
            tools.append(self._validation.definition())
        return {**result, "tools": tools}

    def _announce(self, result: Mapping[str, object], era: Literal["legacy", "modern"]) -> dict[str, Any]:
        capabilities = members(result.get("capabilities"))
        return {**result, "capabilities": self._validation.announced_in(capabilities, era)}

    async def _handle_call(self, ctx: _Context, call_next: CallNext) -> HandlerResult:
        params = members(ctx.params)
        name, arguments = params.get("name"), params.get("arguments", {})
        if not isinstance(name, str) or not is_object(arguments):
            # Malformed requests are protocol errors (SEP-1303), which the SDK answers.
            return await call_next(ctx)
        tools, stamp = await list_tools(ctx, call_next)
        era = era_of(ctx)
        if name == self._validation.method:
            # Without a progress token in the request, the SDK sends nothing.
            answer = await answered(self._validation, arguments, tools, ctx.session.report_progress)
            return complete_result(answer, era, stamp)
        tool = tools.get(name)
        if tool is None:
            return await call_next(ctx)
        found = await self._validation.judge(tool, arguments, purpose="call")
        if not found.valid:
            return complete_result(found.to_result(era), era, stamp)
        result = await call_next(ctx)
        if not found.messages or not is_object(result):
            return result
        # Warnings go into the `_meta` of the result.
        return {**result, "_meta": {**members(result.get("_meta")), EXTENSION_ID: found.reply.to_dict()}}


async def list_tools(
    ctx: _Context, call_next: CallNext
) -> tuple[dict[str, Mapping[str, object]], Mapping[str, object]]:
    """All tools by name, and the `_meta` members that identify the server in every modern result."""
    found: dict[str, Mapping[str, object]] = {}
    meta = {key: value for key, value in members(members(ctx.params).get("_meta")).items() if key != "progressToken"}
    params: dict[str, Any] = {"_meta": meta} if meta else {}
    stamp: Mapping[str, object] = {}
    for _ in range(_MOST_PAGES):
        try:
            page = members(await call_next(replace(ctx, method="tools/list", params=params)))
        except MCPError as problem:
            # A server without a list, or without one for this caller: its tools are unknown, and calls pass.
            _LOG.warning(
                "tools/list failed, so the call of %r is not checked: %s", members(ctx.params).get("name"), problem
            )
            break
        for tool in elements(page.get("tools")):
            name = members(tool).get("name")
            if isinstance(name, str):
                found[name] = members(tool)
        stamp = {key: value for key, value in members(page.get("_meta")).items() if key == SERVER_INFO_META_KEY}
        cursor = page.get("nextCursor")
        if not isinstance(cursor, str):
            break
        params = {**params, "cursor": cursor}
    return found, stamp


def era_of(ctx: _Context) -> Literal["legacy", "modern"]:
    """The era of the client that sent this message."""
    return "modern" if ctx.protocol_version in MODERN_PROTOCOL_VERSIONS else "legacy"


def complete_result(
    result: Mapping[str, object], era: Literal["legacy", "modern"], stamp: Mapping[str, object]
) -> dict[str, Any]:
    """The result with what the SDK adds to results of handlers: this one does not pass through the SDK."""
    if era == "legacy":
        return dict(result)
    meta = {**members(result.get("_meta")), **stamp}
    return {"resultType": "complete", **result, **({"_meta": meta} if meta else {})}
