"""The address of the daemon, and the messages between it and a client: a kind, a length and fields.

client    REQUEST words, folder, environment      what to run; a list of words is one field, joined by NUL
daemon    TAKEN                                    it has begun
daemon    WANTED                                   it reads its input
client    INPUT content                            what it read; empty at the end
daemon    DONE code, stdout, stderr                all of the output
"""

# ruff: noqa: PTH118 - every call imports this: pathlib and typing would cost more than the call.

import os
import sys

from toolvet.core.private import OTHERS, own_folder
from toolvet.version import __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    import _socket

try:
    # The same function; `hashlib` loads OpenSSL first.
    from _blake2 import blake2b
except ImportError:
    from hashlib import blake2b

VARIABLE = "TOOLVET_RESIDENT"
_IDLE_SECONDS = 600
_WORDS = {"": 0, "off": 0, "on": _IDLE_SECONDS}
_MOST_IDLE_SECONDS = 24 * 3600
_MOST_PATH_BYTES = 107  # The length of an address in the kernel, without its last byte.
# What Python reads when it starts: another value may be another answer. The rest goes along with each request.
_OF_PYTHON = ("PYTHON", "LANG", "LC_")

REQUEST, TAKEN, WANTED, INPUT, DONE = b"q", b"t", b"w", b"i", b"d"
MOST_BYTES = 16 * 2**20
"""A message that claims to be longer is not read."""
_HEAD_BYTES = 9
_PEER_BYTES = 12


def idle_seconds() -> int:
    """Return how many seconds a daemon stays without a call, as the environment says; 0 where none is wanted."""
    given = os.environ.get(VARIABLE, "").strip().lower()
    seconds = int(given) if given.isascii() and given.isdigit() and len(given) < 10 else _WORDS.get(given, 0)
    return min(seconds, _MOST_IDLE_SECONDS)


def address() -> str | None:
    """Return the path of the socket; None if no folder belongs to this user alone.

    The name follows from the version, the place of the package and of Python, and what Python's start depends on: a
    daemon of anything else gets no requests, and ends when it is idle.
    """
    folder = _folder()
    if folder is None:
        return None
    settings = sorted(item for item in os.environ.items() if item[0].startswith(_OF_PYTHON))
    identity = (__version__, __file__, sys.executable, sys.version, tuple(sys.flags), sys.stdout.encoding, settings)
    name = blake2b(repr(identity).encode("utf-8", "replace"), digest_size=16).hexdigest()
    path = os.path.join(folder, f"{name}.sock")
    return path if len(os.fsencode(path)) <= _MOST_PATH_BYTES else None


def _folder() -> str | None:
    """Return the folder for sockets, made if it is missing; None if it is not this user's, or not closed to others."""
    base = os.environ.get("XDG_RUNTIME_DIR")
    folder = (
        os.path.join(base, "toolvet")
        if base
        else os.path.join(os.environ.get("TMPDIR") or "/tmp", f"toolvet-{os.getuid()}-run")  # noqa: S108 - it is looked at
    )
    try:
        return folder if own_folder(folder, OTHERS) else None
    except OSError:
        return None


class MessageError(Exception):
    """The other side sent bytes that are not a message."""


def packed(kind: bytes, *fields: bytes) -> bytes:
    """Return a message as bytes."""
    body = b"".join(len(each).to_bytes(8, "big") + each for each in fields)
    return kind + len(body).to_bytes(8, "big") + body


def unpacked(received: bytes) -> tuple[bytes, list[bytes]] | None:
    """Return the kind and the fields of a message, None while it is not complete. Raises `MessageError`."""
    if len(received) < _HEAD_BYTES:
        return None
    length = int.from_bytes(received[1:_HEAD_BYTES], "big")
    if length > MOST_BYTES:
        raise MessageError
    if len(received) < _HEAD_BYTES + length:
        return None
    fields: list[bytes] = []
    at = _HEAD_BYTES
    while at < _HEAD_BYTES + length:
        end = at + 8 + int.from_bytes(received[at : at + 8], "big")
        if end > _HEAD_BYTES + length:
            raise MessageError
        fields.append(received[at + 8 : end])
        at = end
    return received[:1], fields


def receive(connection: "_socket.socket") -> tuple[bytes, list[bytes]] | None:
    """Return the next message, None at the end. Raises `MessageError`, and `OSError` as the connection does."""
    received = b""
    whole = _HEAD_BYTES
    while len(received) < whole:
        more = connection.recv(min(whole - len(received), 2**20))
        if not more:
            return None
        received += more
        if len(received) >= _HEAD_BYTES:
            length = int.from_bytes(received[1:_HEAD_BYTES], "big")
            if length > MOST_BYTES:
                raise MessageError
            whole = _HEAD_BYTES + length
    return unpacked(received)


def is_ours(connection: "_socket.socket", user: int) -> bool:
    """Whether the other side is a process of this user, as the kernel says."""
    import _socket  # noqa: PLC0415 - a call without a daemon needs none

    peer = connection.getsockopt(_socket.SOL_SOCKET, _socket.SO_PEERCRED, _PEER_BYTES)
    return int.from_bytes(peer[4:8], sys.byteorder) == user
