"""`Executor`: what hands requests to workers; and the function that workers run, which arrives without toolvet."""

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from typing import Protocol


@dataclass
class EngineFigures:
    """What an engine did: work that was tried again, and work that all tries failed with, which was judged here."""

    retries: int = 0
    failed: int = 0


class Executor(Protocol):
    """Hands requests to workers. What it does not get an answer to, it tries again, some times, elsewhere."""

    def carried(self, requests: Iterator[bytes], figures: EngineFigures) -> Generator[bytes | str]:
        """Yield the reply to each request, in their order; a text that says why, for one that all tries failed with.

        Only a bounded number of requests, and of bytes, is under way at a time. Raises UnreachableError where there is
        no worker any more.
        """
        ...

    def close(self) -> None:
        """Give up what is under way, and leave the cluster."""
        ...


def task(module: str) -> Callable[[bytes], bytes]:
    """Return the function that a worker runs on a request: `answer` of the module.

    It is made in here so that it is sent as code and not by its name: a scheduler, or a worker, without toolvet can
    then say so, and does not fail where nobody sees why.
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
