"""`ClusterAssessor`: the workers of a cluster assess servers; all else of a run stays here.

`ServerRequest` goes to a worker for each server, and `ServerReply` comes back.
"""

import asyncio
import pickle
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Final, Protocol

import msgspec

from toolvet.assess.many.job import AssessmentJob, AssessmentLimits, AssessmentOutcome, Ending
from toolvet.core.identity import identity
from toolvet.core.redact import redact
from toolvet.errors import UsageError
from toolvet.mcp.transport import SAFE_HEADERS, HttpTarget, StdioTarget, mask_args, mask_url

WORKER: Final = "toolvet.assess.many.on_worker"
"""The module that answers on a worker."""

_TRIES: Final = 2
_HERE: Final = "assess it with --workers alone, which sends nothing to other machines"


class ServerRequest(msgspec.Struct, frozen=True):
    """A server to assess. `identity` is of the process that asks; a worker that has another one does not assess.

    `job` is a pickle of the job and its limits, without the values of variables: these are `variables`, by name.
    """

    identity: str
    job: bytes
    file: str
    variables: tuple[str, ...] = ()


class ServerReply(msgspec.Struct, frozen=True):
    """The outcome of a server, and its report; or a message that names this worker, and why it assesses none."""

    outcome: AssessmentOutcome | None = None
    report: bytes | None = None
    problem: str = ""


_decode_reply: Final = msgspec.msgpack.Decoder(ServerReply).decode


class RequestExecutor(Protocol):
    """Hands single requests to workers, also from several threads at once."""

    def width(self) -> int:
        """How many requests the workers answer at once, at least 1."""
        ...

    def asked(self, request: bytes, tries: int) -> bytes | str:
        """Return the reply to a request; a text that explains the failure if its worker was lost `tries` times.

        Raises UnreachableError if there is no worker any more.
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


def why_not_sent(job: AssessmentJob) -> str:
    """Why a job cannot be sent to a cluster, in a sentence; empty if it can.

    A request is kept in the memory of a scheduler, in its logs and on its dashboard, so no secret goes: neither the
    value of a header nor what looks secret on a command line, in a URL, or among the values that the user gave.
    """
    target = job.target
    if isinstance(target, HttpTarget):
        names = [name for name in target.headers or {} if name.lower() not in SAFE_HEADERS]
        if names:
            return f"the header {names[0]} is not sent to a cluster, which keeps what it is sent; {_HERE}"
        if mask_url(target.url) != target.url:
            return f"its URL has a secret, which is not sent to a cluster; {_HERE}"
    elif tuple(mask_args(target.args)) != target.args:
        return f"its command line has a secret, which is not sent to a cluster; give it as a variable, or {_HERE}"
    given = {"values": job.options.values, "fixtures": job.options.fixtures, "arguments": job.options.arguments}
    if redact(given) != given:
        return f"the values or fixtures of the settings have a secret, which is not sent to a cluster; {_HERE}"
    return ""


def encode_request(job: AssessmentJob, file: str, limits: AssessmentLimits) -> bytes:
    """Return the request for a job that can be sent."""
    names: tuple[str, ...] = ()
    target = job.target
    if isinstance(target, StdioTarget):
        names = tuple(target.env or {})
        target = replace(target, env=None)
    bare = replace(job, target=target)
    return msgspec.msgpack.encode(ServerRequest(identity(), pickle.dumps((bare, limits)), file, names))


def decode_job(asked: ServerRequest, environment: Mapping[str, str]) -> tuple[AssessmentJob, AssessmentLimits]:
    """Return the job of a request, with the values that the worker's own `environment` has for its variables.

    Raises KeyError for the first that it does not have.
    """
    job, limits = pickle.loads(asked.job)  # noqa: S301 - a program that reaches a worker runs code on it anyway
    if asked.variables:
        job = replace(job, target=replace(job.target, env={name: environment[name] for name in asked.variables}))
    return job, limits
