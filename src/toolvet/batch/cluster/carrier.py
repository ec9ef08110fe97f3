"""`Carrier`: what hands requests to workers; and the function that workers run, which arrives without toolvet."""

from collections.abc import Callable, Generator, Iterator
from typing import Protocol

from toolvet.batch.engine import EngineFigures


class Carrier(Protocol):
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


def task() -> Callable[[bytes], bytes]:
    """Return the function that a worker runs on a request.

    It is made in here so that it is sent as code and not by its name: a scheduler, or a worker, without toolvet can
    then say so, and does not fail where nobody sees why.
    """

    def judge(request: bytes) -> bytes:
        try:
            from toolvet.batch.cluster.station import answer  # noqa: PLC0415 - on the worker
        except ImportError as error:
            import socket  # noqa: PLC0415 - as above

            return f"!{socket.gethostname()}: {error}".encode()
        return answer(request)

    return judge
