"""`enable_retrieval`: add the tool that returns what responses left out to a server.

    enable_retrieval(server, archive)

A caller that knows a hash gets the content. Hashes cannot be guessed, but a server for several users should have an
archive for each.
"""

from collections.abc import Callable
from typing import Annotated, Any, Final, Protocol, runtime_checkable

import anyio.to_thread
from mcp.server import Server
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.types import SERVER_INFO_META_KEY
from mcp_types import ToolAnnotations
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import Field

from toolvet.agents.integrations.enveloped.decorator import enveloped
from toolvet.core.checks import check_arguments
from toolvet.core.envelope import Archive, Envelope, output_schema, retrieve_content
from toolvet.core.json_value import elements, is_object, members

_DESCRIPTION: Final = (
    "Returns content that an earlier response left out to fit its size limit. Call it with a hash from "
    "meta.content_archive_hashes of that response, and with ids from its dropped_content_ids, or none for all."
)
_READS: Final = ToolAnnotations(
    read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)

Hash = Annotated[
    str,
    Field(
        description="From meta.content_archive_hashes: sha256: and 64 digits.",
        pattern="^sha256:[0-9a-f]{64}$",
        examples=["sha256:" + "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"],
    ),
]
Ids = Annotated[list[str] | None, Field(description="The ids of the items wanted; all items when left out.")]
Offset = Annotated[int, Field(ge=0, description="How many items to skip: the cursor of the page before.")]
Limit = Annotated[int, Field(ge=1, le=1000, description="How many items to return at most.")]
_INPUT: Final = {
    "type": "object",
    "properties": {
        "content_hash": {
            "type": "string",
            "pattern": "^sha256:[0-9a-f]{64}$",
            "description": "From meta.content_archive_hashes: sha256: and 64 digits.",
        },
        "ids": {
            "type": ["array", "null"],
            "items": {"type": "string"},
            "description": "The ids of the items wanted; all items when left out.",
        },
        "offset": {"type": "integer", "minimum": 0, "default": 0, "description": "How many items to skip."},
        "limit": {"type": "integer", "minimum": 1, "maximum": 1000, "default": 50, "description": "How many items."},
    },
    "required": ["content_hash"],
    "additionalProperties": False,
}


@runtime_checkable
class _HasTools(Protocol):
    """FastMCP and the SDK's MCPServer."""

    def tool(self, name: str, *, description: str, annotations: ToolAnnotations) -> Callable[[Any], Any]: ...


def enable_retrieval(server: Any, archive: Archive, *, name: str = "retrieve_content") -> None:
    """Add the retrieval tool to a server. Call it once, before the server runs.

    Args:
        server: a FastMCP server, or an MCPServer or a low-level Server of the official SDK.
        archive: the archive that `fit_response` fills, such as a `ContentArchive`.
        name: the name of the tool.

    Raises:
        TypeError: for any other server.

    Example:
        >>> from fastmcp import FastMCP
        >>> from toolvet import ContentArchive
        >>> enable_retrieval(FastMCP("harbour"), ContentArchive())
    """

    @enveloped(name=name)
    def retrieve(content_hash: Hash, ids: Ids = None, offset: Offset = 0, limit: Limit = 50) -> Envelope:
        return retrieve_content(archive, content_hash, ids=ids, offset=offset, limit=limit)

    if isinstance(server, Server):
        server.middleware.append(_RetrievalMiddleware(retrieve, name))  # pyright: ignore[reportUnknownMemberType] - a server of anything.
    elif isinstance(server, _HasTools):
        server.tool(name, description=_DESCRIPTION, annotations=_READS)(retrieve)
    else:
        raise TypeError(f"server must be a FastMCP, MCPServer or Server, not {type(server).__name__}")


class _RetrievalMiddleware:
    """For low-level servers: adds the tool to the result of `tools/list`, and answers its `tools/call`."""

    def __init__(self, retrieve: Callable[..., Any], name: str) -> None:
        self._retrieve = retrieve
        self._name = name
        self._stamp: dict[str, object] = {}

    async def __call__(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        params = members(ctx.params)
        arguments = params.get("arguments", {})
        if ctx.method != "tools/call" or params.get("name") != self._name or not is_object(arguments):
            result = await call_next(ctx)
            if ctx.method != "tools/list" or not is_object(result):
                return result
            meta = members(result.get("_meta"))
            self._stamp = {key: each for key, each in meta.items() if key == SERVER_INFO_META_KEY}
            last = result.get("nextCursor") is None
            return {**result, "tools": [*elements(result.get("tools")), *([self._definition()] if last else ())]}
        report = check_arguments(self._definition(), arguments)
        if report.valid:
            made = await anyio.to_thread.run_sync(lambda: self._retrieve(**arguments))
            answer: dict[str, Any] = made.model_dump(by_alias=True, mode="json", exclude_none=True)
            # exclude_none has removed null members, which the envelope needs.
            answer["structuredContent"] = made.structured_content
        else:
            answer = dict(report.to_result("modern"))
        if ctx.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            answer.pop("resultType", None)
            return answer
        meta = {**members(answer.get("_meta")), **self._stamp}
        return {**answer, "resultType": "complete", **({"_meta": meta} if meta else {})}

    def _definition(self) -> dict[str, object]:
        return {
            "name": self._name,
            "description": _DESCRIPTION,
            "inputSchema": _INPUT,
            "outputSchema": output_schema(),
            "annotations": _READS.model_dump(by_alias=True, mode="json", exclude_none=True),
        }
