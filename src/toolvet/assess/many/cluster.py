"""`ClusterAssessor`: servers are assessed by the workers of a cluster; all else of a run stays here."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Final, Protocol

import msgspec

from toolvet.assess.many.job import AssessmentJob, AssessmentLimits, AssessmentOutcome, Ending
from toolvet.assess.many.messages import ServerReply, encode_request, why_not_sent
from toolvet.errors import UsageError

WORKER: Final = "toolvet.assess.many.on_worker"
"""The module that answers on a worker."""
_TRIES: Final = 2

_decode_reply: Final = msgspec.msgpack.Decoder(ServerReply).decode


class RequestExecutor(Protocol):
    """Hands single requests to workers, also from several threads at once."""

    def width(self) -> int:
        """How many requests the workers answer at once, at least 1."""
        ...

    def asked(self, request: bytes, tries: int) -> bytes | str:
        """Return the reply to a request; a text that says why, where its worker was lost `tries` times.

        Raises UnreachableError where there is no worker any more.
        """
        ...

    def close(self) -> None:
        """Give up what is under way, and leave the cluster."""
        ...


class ClusterAssessor:
    """An `Assessor` whose servers run on the workers that a executor reaches, each as one request."""

    def __init__(self, executor: RequestExecutor) -> None:
        self.workers: Final = executor.width()
        self._executor = executor
        # A request is waited for in a thread.
        self._threads = ThreadPoolExecutor(self.workers, thread_name_prefix="toolvet-ask")

    async def __call__(
        self, job: AssessmentJob, file: str, limits: AssessmentLimits
    ) -> tuple[AssessmentOutcome, bytes | None]:
        """As of `Assessor`. A server whose worker is lost is tried once more, by another worker."""
        why_not = why_not_sent(job)
        if why_not:
            return _without_report(job, file, "unusable", why_not, 2), None
        loop = asyncio.get_running_loop()
        found = await loop.run_in_executor(
            self._threads, self._executor.asked, encode_request(job, file, limits), _TRIES
        )
        if isinstance(found, str):
            problem = f"the worker that assessed it was lost, {_TRIES} times ({found})"
            return _without_report(job, file, "crashed", problem, 5), None
        if found.startswith(b"!"):
            words = found[1:].decode(errors="replace")
            raise UsageError(
                f"a worker has no toolvet to assess with: {words}. Install the same toolvet on all machines"
            )
        reply = _decode_reply(found)
        if reply.outcome is None:
            raise UsageError(reply.problem or "a worker answered nothing")
        # The key is that of the target as it is here, and what was found is the same.
        return msgspec.structs.replace(reply.outcome, name=job.name, file=file, key=job.key), reply.report

    def close(self) -> None:
        """Leave the cluster; requests that are under way are given up."""
        self._executor.close()
        self._threads.shutdown(wait=False, cancel_futures=True)


def _without_report(job: AssessmentJob, file: str, ending: Ending, problem: str, exit_code: int) -> AssessmentOutcome:
    return AssessmentOutcome(name=job.name, file=file, key=job.key, ending=ending, problem=problem, exit_code=exit_code)
