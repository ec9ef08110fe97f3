"""`assess`: one server in, a report out."""

import asyncio

import msgspec

from toolvet.assess.assemble import build_report
from toolvet.assess.options import Options
from toolvet.assess.report.document import Report
from toolvet.assess.run import Run, Silent, Watch
from toolvet.assess.workspace import Concealer, DiskWatch, open_workspace
from toolvet.mcp.transport import Target


async def assess(target: Target, options: Options | None = None, watch: Watch | None = None) -> Report:
    """Assess one server.

    Cancelling it (Ctrl-C), the deadline and a server that fills the disk end it early: the report then says so in
    `incomplete` and holds what was seen until then. The server is ended in every case.

    A command is started in an empty folder with an empty home and a temporary folder of its own, all removed
    afterwards (`assess/workspace.py`); `cwd` of the target and `Options.keep_home` are for the real ones.

    Args:
        target: The server: a command to start (`StdioTarget`) or a URL (`HttpTarget`).
        options: What may be called, with which arguments, and how long; all defaults without it.
        watch: Receives each tool and call as they begin and end, for a progress bar.

    Returns:
        The report, as `toolvet.assess.report` renders it.

    Raises:
        UnreachableError: No session could be opened.
        AuthenticationError: The server refused the credentials.
        UsageError: The options name a tool that the server does not have, or a sandbox that cannot be made.
    """
    options = options or Options()
    workspace = open_workspace(target, keep_home=options.keep_home, sandbox=options.sandbox, disk_mib=options.disk_mib)
    concealer = Concealer(workspace.target, workspace.folder)
    run, incomplete = Run(workspace.target, options, watch or Silent()), None
    deadline, disk = asyncio.timeout(options.deadline), DiskWatch(workspace.folder, options.disk_mib)
    try:
        with concealer.errors(workspace.explain):
            async with deadline, disk:
                await run.go()
    except TimeoutError:
        if not deadline.expired():
            raise
        incomplete = f"the deadline of {options.deadline:g} s passed"
    except asyncio.CancelledError:
        if run.session is None and not disk.overfilled:
            raise
        incomplete = _note_interruption()
        if disk.overfilled:
            run.overfilled = disk.overfilled
            incomplete = f"the server {disk.overfilled}"
    finally:
        try:
            incomplete = await _end(run, incomplete)
        finally:
            workspace.close()
    report = concealer.report(build_report(run, incomplete))
    try:
        # A Ctrl-C while the report was made arrives here: the report is there, and must not be lost.
        await asyncio.sleep(0)
    except asyncio.CancelledError:
        interrupted = _note_interruption()
        report = msgspec.structs.replace(report, incomplete=report.incomplete or interrupted)
    return report


async def _end(run: Run, incomplete: str | None) -> str | None:
    """End the server, quickly when the run was cut short. Returns why it was cut short, also if that happened here."""
    try:
        await run.connection.close(None if incomplete is None else asyncio.CancelledError())
    except asyncio.CancelledError:
        # The server has ended anyway. Its run may have come to its end before, which the report need not say.
        if run.session is None:
            raise
        interrupted = _note_interruption()
        return incomplete or interrupted
    return incomplete


def _note_interruption() -> str:
    """Go on after a cancellation, to make the report. Returns the report's words for it."""
    task = asyncio.current_task()
    if task is not None:
        task.uncancel()
    return "interrupted"
