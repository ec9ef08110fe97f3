"""What a client and the resident say to each other: messages of a kind, a length and fields.

client    REQUEST words, folder, environment      what to run; a list of words is one field, joined by NUL
resident  TAKEN                                    it has begun
resident  WANTED                                   it reads its input
client    INPUT content                            what it read; empty at the end
resident  DONE code, stdout, stderr                all of the output
"""

import _socket
import sys

REQUEST, TAKEN, WANTED, INPUT, DONE = b"q", b"t", b"w", b"i", b"d"
MOST_BYTES = 16 * 2**20
"""A message that claims to be longer is not read."""
_HEAD_BYTES = 9
_PEER_BYTES = 12


class FrameError(Exception):
    """The other side said something else than a message."""


def packed(kind: bytes, *fields: bytes) -> bytes:
    """A message as bytes."""
    body = b"".join(len(each).to_bytes(8, "big") + each for each in fields)
    return kind + len(body).to_bytes(8, "big") + body


def unpacked(received: bytes) -> tuple[bytes, list[bytes]] | None:
    """The kind and the fields of a message, None while it is not complete. Raises `FrameError`."""
    if len(received) < _HEAD_BYTES:
        return None
    length = int.from_bytes(received[1:_HEAD_BYTES], "big")
    if length > MOST_BYTES:
        raise FrameError
    if len(received) < _HEAD_BYTES + length:
        return None
    fields: list[bytes] = []
    at = _HEAD_BYTES
    while at < _HEAD_BYTES + length:
        end = at + 8 + int.from_bytes(received[at : at + 8], "big")
        if end > _HEAD_BYTES + length:
            raise FrameError
        fields.append(received[at + 8 : end])
        at = end
    return received[:1], fields


def receive(connection: "_socket.socket") -> tuple[bytes, list[bytes]] | None:
    """The next message, None at the end. Raises `FrameError`, and `OSError` as the connection does."""
    received = b""
    while (missing := _missing(received)) > 0:
        more = connection.recv(min(missing, 2**20))
        if not more:
            return None
        received += more
    return unpacked(received)


def is_ours(connection: "_socket.socket", user: int) -> bool:
    """Whether the other side is a process of this user, as the kernel says."""
    peer = connection.getsockopt(_socket.SOL_SOCKET, _socket.SO_PEERCRED, _PEER_BYTES)
    return int.from_bytes(peer[4:8], sys.byteorder) == user


def _missing(received: bytes) -> int:
    """How many bytes of the message are still to come, as far as is known. Raises `FrameError`."""
    if len(received) < _HEAD_BYTES:
        return _HEAD_BYTES - len(received)
    length = int.from_bytes(received[1:_HEAD_BYTES], "big")
    if length > MOST_BYTES:
        raise FrameError
    return _HEAD_BYTES + length - len(received)
