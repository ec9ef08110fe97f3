"""`ClusterAssessor`: servers are assessed by the workers of a cluster; all else of a run stays here."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Final

import msgspec

from toolvet.assess.many.job import AssessmentJob, AssessmentLimits, AssessmentOutcome, Ending
from toolvet.assess.many.messages import ServerReply, encode_request, why_not_sent
from toolvet.batch.executors import AskingCarrier
from toolvet.errors import UsageError

STATION: Final = "toolvet.assess.many.station"
"""The module that answers on a worker."""
_TRIES: Final = 2

_decode_reply: Final = msgspec.msgpack.Decoder(ServerReply).decode


def open_assessor(engine: str, address: str | None, workers: int | None) -> "ClusterAssessor":
    """Return what assesses on the engine "dask" or "daft", connected; whoever asks for it closes it.

    Raises UsageError where it is not installed, and UnreachableError where nobody answers at the address.
    """
    # Both load half of the Python world.
    if engine == "dask":
        from toolvet.batch.executors import DaskCarrier  # noqa: PLC0415

        return ClusterAssessor(DaskCarrier(address, workers, STATION))
    if address is None:
        raise UsageError("--engine daft: give the --address of a Ray cluster; on one machine --workers N is enough")
    from toolvet.batch.executors import DaftCarrier  # noqa: PLC0415

    return ClusterAssessor(DaftCarrier(address, workers, STATION))


class ClusterAssessor:
    """An `Assessor` whose servers run on the workers that a carrier reaches, each as one request."""

    def __init__(self, carrier: AskingCarrier) -> None:
        self.workers: Final = carrier.width()
        self._carrier = carrier
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
            self._threads, self._carrier.asked, encode_request(job, file, limits), _TRIES
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
        self._carrier.close()
        self._threads.shutdown(wait=False, cancel_futures=True)


def _without_report(job: AssessmentJob, file: str, ending: Ending, problem: str, exit_code: int) -> AssessmentOutcome:
    return AssessmentOutcome(name=job.name, file=file, key=job.key, ending=ending, problem=problem, exit_code=exit_code)
