"""The tool that gives back what responses left out, mounted on a server with one line.

    enable_retrieval(server, archive)

Whoever knows a hash gets the content: nobody guesses one, but a server that answers different users from one archive
should give each an archive of its own.
"""

from collections.abc import Callable
from typing import Annotated, Any, Protocol, runtime_checkable

import anyio.to_thread
from mcp.server import Server
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.types import SERVER_INFO_META_KEY
from mcp_types import ToolAnnotations
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import Field

from toolvet.checks.arguments import check_arguments
from toolvet.envelope import Archive, Envelope, output_schema, retrieve_content
from toolvet.integrations.enveloped.decorator import enveloped
from toolvet.schema.json_value import elements, is_object, members

_DESCRIPTION = (
    "Returns content that an earlier response left out to fit its size limit. Call it with a hash from "
    "meta.content_archive_hashes of that response, and with ids from its dropped_content_ids, or none for all."
)
_READS = ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False)

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


@runtime_checkable
class _HasTools(Protocol):
    """FastMCP and the SDK's MCPServer."""

    def tool(self, name: str, *, description: str, annotations: ToolAnnotations) -> Callable[[Any], Any]: ...


def enable_retrieval(server: Any, archive: Archive, *, name: str = "retrieve_content") -> None:
    """Give a FastMCP server, an MCPServer or a low-level Server of the SDK the tool. Call it once, before it runs.

    Raises TypeError for any other server.
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
    """For servers that write their own `tools/list` and `tools/call`: adds to the one, and answers the other."""

    def __init__(self, retrieve: Callable[..., Any], name: str) -> None:
        self._retrieve = retrieve
        self._name = name
        self._stamp: dict[str, object] = {}

    async def __call__(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        """One message."""
        params = members(ctx.params)
        if ctx.method == "tools/call" and params.get("name") == self._name:
            arguments = params.get("arguments", {})
            if is_object(arguments):
                return await self._called(dict(arguments), modern=ctx.protocol_version in MODERN_PROTOCOL_VERSIONS)
        result = await call_next(ctx)
        if ctx.method != "tools/list" or not is_object(result):
            return result
        self._stamp = {key: each for key, each in members(result.get("_meta")).items() if key == SERVER_INFO_META_KEY}
        last = result.get("nextCursor") is None
        return {**result, "tools": [*elements(result.get("tools")), *([self._definition()] if last else ())]}

    async def _called(self, arguments: dict[str, Any], *, modern: bool) -> dict[str, Any]:
        report = check_arguments(self._definition(), arguments)
        if report.valid:
            made = await anyio.to_thread.run_sync(lambda: self._retrieve(**arguments))
            result: dict[str, Any] = made.model_dump(by_alias=True, mode="json", exclude_none=True)
            # Null is a value of the envelope, and no absent member.
            result["structuredContent"] = made.structured_content
        else:
            result = dict(report.to_result("modern"))
        if not modern:
            result.pop("resultType", None)
            return result
        meta = {**members(result.get("_meta")), **self._stamp}
        return {**result, "resultType": "complete", **({"_meta": meta} if meta else {})}

    def _definition(self) -> dict[str, object]:
        return {
            "name": self._name,
            "description": _DESCRIPTION,
            "inputSchema": _INPUT,
            "outputSchema": output_schema(),
            "annotations": _READS.model_dump(by_alias=True, mode="json", exclude_none=True),
        }


_INPUT = {
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
        "limit": {"type": "integer", "minimum": 1, "maximum": 1000, "default": 50, "description": "At most so many."},
    },
    "required": ["content_hash"],
    "additionalProperties": False,
}
