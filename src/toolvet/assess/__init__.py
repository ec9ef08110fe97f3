"""A server in, a report out: the driver that calls every tool and asks the rules about what came back."""

import asyncio

from toolvet.assess.assemble import assembled
from toolvet.assess.options import Options
from toolvet.assess.run import Run, Silent, Watch
from toolvet.assess.status import server_status, tool_status
from toolvet.report.document import Report
from toolvet.transport import Target

__all__ = ["Options", "Report", "Silent", "Watch", "assess", "server_status", "tool_status"]


async def assess(target: Target, options: Options | None = None, watch: Watch | None = None) -> Report:
    """Assess one server.

    Raises UnreachableError or AuthenticationError when no session can be opened, UsageError when the options name a
    tool that the server does not have. Cancelling it (Ctrl-C) and the deadline end it early: the report then says so
    in `incomplete` and holds what was seen until then. The server is ended in every case.
    """
    options = options or Options()
    run, incomplete = Run(target, options, watch or Silent()), None
    deadline = asyncio.timeout(options.deadline)
    try:
        async with deadline:
            await run.go()
    except TimeoutError:
        if not deadline.expired():
            raise
        incomplete = f"the deadline of {options.deadline:g} s passed"
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if run.session is None or task is None:
            raise
        task.uncancel()
        incomplete = "interrupted"
    finally:
        await run.line.close()
    return assembled(run, incomplete)
