"""`ServerRequest` and `ServerReply`: what goes to a worker of a cluster for a server, and what comes back."""

import pickle
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

import msgspec

from toolvet.assess.many.job import AssessmentJob, AssessmentLimits, AssessmentOutcome
from toolvet.core.identity import identity
from toolvet.core.redact import redact
from toolvet.mcp.transport import SAFE_HEADERS, HttpTarget, StdioTarget, mask_args, mask_url

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
    """What came of a server, and its report; or why this worker assesses none, in words that name it."""

    outcome: AssessmentOutcome | None = None
    report: bytes | None = None
    problem: str = ""


def why_not_sent(job: AssessmentJob) -> str:
    """Why a job cannot be sent to a cluster, in a sentence; empty where it can.

    What is sent stands in the memory of a scheduler, in its logs and on its dashboard, so no secret goes: neither the
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
    job, limits = pickle.loads(asked.job)  # noqa: S301 - whoever reaches a worker runs code on it anyway
    if asked.variables:
        job = replace(job, target=replace(job.target, env={name: environment[name] for name in asked.variables}))
    return job, limits
