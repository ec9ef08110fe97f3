"""`knock`: whether anybody listens at an address, before a library waits for it for minutes."""

import socket
from typing import Final
from urllib.parse import urlsplit

from toolvet.errors import UnreachableError, UsageError

CONNECT_SECONDS: Final = 15.0


def knock(address: str, what: str, example: str) -> None:
    """Raise UnreachableError where nobody listens at `address`, and UsageError where it is none."""
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
