"""`lock_server`: the definitions of a live server, as the lock that `toolvet.core.contract` compares."""

from typing import Literal

from toolvet.assess.connection import RenewableConnection
from toolvet.assess.items import LISTS, offered
from toolvet.assess.workspace import Concealer, open_workspace
from toolvet.core.contract import Lock, lock_of
from toolvet.errors import UnreachableError
from toolvet.mcp.transport import Era, Target
from toolvet.mcp.wire import DEFAULT_MESSAGE_BYTES


async def lock_server(
    target: Target,
    *,
    era: Era | Literal["auto"] = "auto",
    timeout: float = 30.0,  # noqa: ASYNC109 - for one answer of the server, as everywhere here
    keep_home: bool = False,
    sandbox: bool = False,
) -> Lock:
    """Return the lock of a server: everything it lists, and no tool is called.

    Raises:
        UnreachableError: No session could be opened, or a list could not be read to its end.
        AuthenticationError: The server refused the credentials.
        UsageError: A sandbox is wanted that cannot be made.
    """
    workspace = open_workspace(target, keep_home=keep_home, sandbox=sandbox)
    concealer = Concealer(workspace.target, workspace.folder)
    connection = RenewableConnection(workspace.target, era, timeout, DEFAULT_MESSAGE_BYTES)
    lists: dict[str, tuple[object, ...]] = {}
    try:
        with concealer.errors(workspace.explain):
            session = await connection.open()
            wanted: list[tuple[str, tuple[str, str, str]]] = [
                ("tool", ("tools", "tools/list", "tools")),
                *LISTS.items(),
            ]
            for kind, (capability, method, member) in wanted:
                if capability in offered(session.capabilities):
                    listing = await connection.list_items(method, member)
                    # A server without templates may refuse to list them; a lock without its tools would be worthless.
                    if listing.failure is not None and kind == "tool":
                        raise UnreachableError(f"{method} could not be read, so there is nothing to lock")
                    lists[kind] = listing.tools
            about = {"name": session.server_name, "version": session.server_version}
    finally:
        try:
            await connection.close()
        finally:
            workspace.close()
    return concealer.report(
        lock_of(
            lists.get("tool", ()),
            lists.get("prompt", ()),
            lists.get("resource", ()),
            lists.get("resource_template", ()),
            about,
            skills=lists.get("skill", ()),
        )
    )
