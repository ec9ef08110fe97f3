"""The work of a cluster's worker: a request in, a reply out, both as bytes.

A server is assessed as it is on one machine: by a process of its own, with the same limits, in a sandbox.
"""

import asyncio
import os
import socket
from typing import Final

import msgspec

from toolvet.assess.many.cluster import ServerReply, ServerRequest, decode_job
from toolvet.assess.many.job import AssessmentOutcome
from toolvet.assess.many.pool import assess_here
from toolvet.core.identity import identity

_decode_request: Final = msgspec.msgpack.Decoder(ServerRequest).decode


def answer(request: bytes) -> bytes:
    """Assess the server of a request. Any failure is reported in the reply."""
    return msgspec.msgpack.encode(_reply(_decode_request(request)))


def _reply(asked: ServerRequest) -> ServerReply:
    worker = f"{socket.gethostname()}, process {os.getpid()}"
    if asked.identity != identity():
        return ServerReply(
            problem=f"the worker on {worker} has {identity()}; here is {asked.identity}. Reports of two versions must"
            " not be ranked together: install the same on all machines"
        )
    try:
        job, limits = decode_job(asked, os.environ)
    except KeyError as error:
        problem = f"it needs the variable {error.args[0]}, which the worker on {worker} does not have"
        lacking = AssessmentOutcome(name="", file="", key="", ending="unusable", problem=problem, exit_code=2)
        return ServerReply(lacking)
    # In a loop of its own: a worker answers several requests at once, in a thread each.
    return ServerReply(*asyncio.run(assess_here(job, asked.file, limits)))
