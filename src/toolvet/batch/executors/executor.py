"""`Executor`: hands requests to the workers of a cluster; and what all executors share."""

import os
import socket
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from typing import Final, Protocol
from urllib.parse import urlsplit

from toolvet.errors import UnreachableError, UsageError


@dataclass
class EngineFigures:
    """The work of an engine that was tried again, and the work that failed in all tries and was judged here."""

    retries: int = 0
    failed: int = 0


class Executor(Protocol):
    """Hands requests to workers. It tries a request without an answer again, a few times, elsewhere."""

    def carried(self, requests: Iterator[bytes], figures: EngineFigures) -> Generator[bytes | str]:
        """Yield the reply to each request, in their order; a text that says why, for one that all tries failed with.

        Only a bounded number of requests, and of bytes, is under way at a time. Raises UnreachableError if there is no
        worker any more.
        """
        ...

    def close(self) -> None:
        """Give up what is under way, and leave the cluster."""
        ...


def task(module: str) -> Callable[[bytes], bytes]:
    """Return the function that a worker runs on a request: `answer` of the module.

    It is made in here so that it is sent as code and not by its name: a scheduler, or a worker, without toolvet can
    then say so, and does not fail without a visible reason.
    """

    def judge(request: bytes) -> bytes:
        from importlib import import_module  # noqa: PLC0415 - on the worker

        try:
            answer: Callable[[bytes], bytes] = import_module(module).answer
        except ImportError as error:
            import socket  # noqa: PLC0415 - as above

            return f"!{socket.gethostname()}: {error}".encode()
        return answer(request)

    return judge


CONNECT_SECONDS: Final = 15.0


def knock(address: str, what: str, example: str) -> None:
    """Raise UnreachableError if nothing listens at `address`, and UsageError if it is not an address."""
    try:
        parts = urlsplit(address if "://" in address else f"//{address}")
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise UsageError(f"--address {address}: {error}") from error
    if not host or not port:
        raise UsageError(f"--address {address}: give the host and port of {what}, as in {example}")
    try:
        socket.create_connection((host, port), timeout=CONNECT_SECONDS).close()
    except OSError as error:
        reason = error.strerror or f"{error}"
        raise UnreachableError(f"--address {address}: {what} does not answer: {reason}") from error


def cores() -> int:
    """How many cores this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1
