"""The error for a session that could not be opened: what happened, where, and what to do, with the server's words."""

from toolvet.errors import AuthenticationError, ToolvetError, UnreachableError
from toolvet.mcp.transport.peer import Peer
from toolvet.mcp.transport.quote import last_lines, printable, quotable
from toolvet.mcp.transport.reply import ConnectionLost, Malformed, Reply, RpcError, TimedOut, describe_reply
from toolvet.mcp.transport.target import HttpTarget, StdioTarget, Target, mask_url


def opening_error(target: Target, peer: Peer, reply: Reply, timeout: float) -> ToolvetError:
    """Return the error to raise for `reply`, which the server gave instead of opening a session.

    HTTP 401 and 403 give an AuthenticationError, all else an UnreachableError.
    """
    if isinstance(target, HttpTarget):
        return _http_error(target, reply, timeout)
    return UnreachableError(_stdio_reason(target, peer, reply, timeout))


def _stdio_reason(target: StdioTarget, peer: Peer, reply: Reply, timeout: float) -> str:
    command = f"`{target.describe()}`"
    noise = [anomaly.evidence for anomaly in peer.anomalies if anomaly.kind == "noise"]
    stderr = last_lines(peer.stderr)
    said = f"; its stderr ends with:\n{stderr}" if stderr else ""
    if noise and not peer.messages:
        printed = printable(" | ".join(noise), 200)
        end = _describe_end(reply, timeout)
        return f'{command} is no MCP server: it printed "{printed}", which is no JSON-RPC, and {end}{said}'
    match reply:
        case ConnectionLost():
            return (
                f"{command} {_describe_end(reply, timeout)} before it spoke MCP{said or '; it wrote nothing to stderr'}"
            )
        case TimedOut():
            return f"{command} did not answer within {timeout:g} s; if it is slow to start, allow it more time{said}"
        case _:
            return f"{command} opens no MCP session: it {describe_reply(reply)}{said}"


def _describe_end(reply: Reply, timeout: float) -> str:
    match reply:
        case ConnectionLost(exit_code=None):
            return reply.reason.removeprefix("the process ")
        case ConnectionLost(exit_code=code) if code is not None and code < 0:
            return f"was ended by signal {-code}"
        case ConnectionLost(exit_code=code):
            return f"ended with exit code {code}"
        case TimedOut():
            return f"answered nothing within {timeout:g} s"
        case _:
            return f"then {describe_reply(reply)}"


def _http_error(target: HttpTarget, reply: Reply, timeout: float) -> ToolvetError:
    url = mask_url(target.url)
    if isinstance(reply, Malformed | RpcError) and reply.status in (401, 403):
        return AuthenticationError(_describe_credentials(target, url, reply))
    match reply:
        case ConnectionLost():
            return UnreachableError(
                f"nothing answers at {url}: {reply.reason}; is the server running, at this address?"
            )
        case TimedOut():
            return UnreachableError(
                f"{url} did not answer within {timeout:g} s; if it is slow to start, allow more time"
            )
        case Malformed():
            hint = "; many servers listen at the path /mcp" if reply.status in (None, 200, 404, 405) else ""
            return UnreachableError(f"{url} is no MCP endpoint: {reply.reason}{hint}")
        case _:
            return UnreachableError(f"{url} opens no MCP session: it {describe_reply(reply)}")


def _describe_credentials(target: HttpTarget, url: str, reply: Malformed | RpcError) -> str:
    challenge = quotable(reply.challenge, 200) if isinstance(reply, Malformed) else ""
    asks = f" (it asks for {challenge})" if challenge else ""
    sent = any(name.lower() == "authorization" for name in target.headers or {})
    if sent:
        return f"{url} does not accept these credentials: HTTP {reply.status}{asks}; check the Authorization header"
    if not challenge and reply.status == 401:
        asks = " (it does not say which: a 401 must carry WWW-Authenticate)"
    if reply.status == 403 and isinstance(reply, Malformed) and reply.raw.strip():
        # Not credentials but the address may be wrong: some servers serve `localhost` and refuse `127.0.0.1`.
        asks += f': "{quotable(reply.raw, 120)}"'
    return (
        f"{url} wants credentials: HTTP {reply.status}{asks}; "
        'pass them with --header "Authorization: Bearer …" or in the configuration file'
    )
