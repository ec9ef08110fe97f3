"""`toolvet intercept`: an interceptor server (SEP-2624) of toolvet's checks."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter


def command(
    *,
    tools: Annotated[
        Path | None,
        Parameter(
            help="Definitions of tools: a `toolvet lock` file, or an answer to tools/list. [default: those that pass]"
        ),
    ] = None,
    settings: Annotated[
        Path | None,
        Parameter(
            help="Policies as TOML, as for the proxy. [default: toolvet.toml, or tool.toolvet in pyproject.toml]"
        ),
    ] = None,
    redact: Annotated[
        bool, Parameter(negative="", help="Also offer `toolvet/redact`, which replaces secrets in calls and results.")
    ] = False,
    listen: Annotated[
        str | None,
        Parameter(help="`HOST:PORT` to serve Streamable HTTP on, instead of stdin and stdout."),
    ] = None,
) -> int:
    """Serve toolvet's checks as interceptors (the draft SEP-2624): validators and mutators for any client or gateway.

    toolvet intercept --tools toolvet.lock.json

    toolvet proxy --interceptor 'toolvet intercept' -- uvx mcp-server-git
    """
    import sys  # noqa: PLC0415 - all of these are for this command only

    from toolvet.agents.interceptors import OwnInterceptors  # noqa: PLC0415
    from toolvet.assess.mock import read_definitions  # noqa: PLC0415
    from toolvet.core.settings import load_settings  # noqa: PLC0415
    from toolvet.mcp.serving import serve_stdio  # noqa: PLC0415
    from toolvet.proxy.session import Policies, ProxySettings  # noqa: PLC0415

    known = load_settings(settings)
    policies = Policies(known[ProxySettings], check=known.result_check())
    listed = () if tools is None else read_definitions(tools)
    if listen is not None:
        from toolvet.proxy.bridge import run_bridge  # noqa: PLC0415
        from toolvet.proxy.record import Recorder  # noqa: PLC0415

        words = [*(("--tools", str(tools)) if tools else ()), *(("--settings", str(settings)) if settings else ())]
        program = (sys.executable, "-m", "toolvet", "intercept", *words, *(("--redact",) if redact else ()))
        return run_bridge(program, None, None, listen, Policies(ProxySettings(announce="off")), Recorder())
    server = OwnInterceptors(policies, listed).server(redacts=redact)

    def answer(line: bytes) -> tuple[bytes, float] | None:
        answered = server.answer(line)
        return None if answered is None else (answered, 0.0)

    serve_stdio(answer)
    return 0
