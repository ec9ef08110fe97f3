"""One worker: a job on stdin, the report as JSON on stdout. The pool starts `python -m toolvet.assess.many.worker`.

The job is a pickle: it holds the secrets of a target, which must not stand on a command line, and it comes from our own
process. SIGTERM ends the assessment as Ctrl-C does, and the report has what was seen until then; so does the end of
stdin, which comes when the process that started us is killed: no process would watch the limits any more.
"""

import asyncio
import os
import pickle
import signal
import sys
import threading

import msgspec

from toolvet.assess import assess
from toolvet.assess.many.job import AssessmentJob, AssessmentLimits, Ending, WorkerAnswer
from toolvet.assess.report.document import Report
from toolvet.assess.report.renderers.json import FORMAT
from toolvet.errors import AuthenticationError, ToolvetError, UnreachableError
from toolvet.mcp.transport import adopt_orphans


def main() -> int:
    """Assess one server."""
    # Nothing but the answer may stand on stdout, whatever a library prints.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    sent: tuple[AssessmentJob, AssessmentLimits] = pickle.load(sys.stdin.buffer)  # noqa: S301 - written by our own process
    job, limits = sent
    if sys.platform != "win32":
        import resource  # noqa: PLC0415 - Windows does not have it.

        # Bounds the files that the server writes; what it starts inherits it. No core dumps.
        for which, wanted in ((resource.RLIMIT_FSIZE, limits.output_mib << 20), (resource.RLIMIT_CORE, 0)):
            _, hard = resource.getrlimit(which)
            allowed = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
            resource.setrlimit(which, (allowed, allowed))
    adopt_orphans()
    threading.Thread(target=_end_with_stdin, daemon=True).start()
    try:
        report = asyncio.run(_assessed(job))
    except asyncio.CancelledError:
        answer = WorkerAnswer(ending="interrupted", problem="interrupted")
    except ToolvetError as error:
        ending: Ending = "unusable"
        if isinstance(error, UnreachableError):
            ending = "unreachable"
        elif isinstance(error, AuthenticationError):
            ending = "unauthorized"
        answer = WorkerAnswer(ending=ending, problem=str(error), exit_code=error.exit_code)
    else:
        document = FORMAT.render((report,), {}).encode()
        answer = WorkerAnswer(report=msgspec.Raw(document), is_interrupted=report.incomplete == "interrupted")
    answers.write(msgspec.json.encode(answer))
    answers.close()
    return 0


def _end_with_stdin() -> None:
    # Not `sys.stdin`: its lock, held by a thread at the end of the process, would be a fatal error.
    while os.read(0, 1):
        pass
    os.kill(os.getpid(), signal.SIGTERM)


async def _assessed(job: AssessmentJob) -> Report:
    task = asyncio.current_task()
    if sys.platform != "win32" and task is not None:
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    return await assess(job.target, job.options)


if __name__ == "__main__":
    sys.exit(main())
