"""Heads that come again: clients and servers send the same with each message, but for the length of its body.

Such a head is found by its bytes, which costs a tenth of parsing it, and what was made of it is still there. It is the
same head to the byte, and began where a message begins, so that a parser would read the same in it.
"""

from typing import Final, Self

import msgspec

from toolvet.mcp.wire import Field, HeadForm, RequestHead, ResponseHead, head_form

_LENGTH: Final = b"content-length"


class KnownRequest(msgspec.Struct, frozen=True):
    """The head of the last message on a connection. It may have credentials, so that it is kept for that one only."""

    form: HeadForm
    method: bytes
    target: bytes
    fields: list[Field]
    length_at: int

    @classmethod
    def of(cls, head: RequestHead, begun: bytes, before: "KnownRequest | None") -> "Self | None":
        """Return what is kept of a head that was parsed, and set its form; None for one that is parsed each time.

        `begun` is what its message came in; `before` is what was kept until now: the same head keeps its form.
        """
        if head.method != b"POST" or not head.keep_alive:
            return None
        form = head_form(b"%s %s HTTP/1.1" % (head.method, head.target), head.fields, begun)
        if form is None:
            return None
        head.form = before.form if before is not None and before.form == form else form
        return cls(head.form, head.method, head.target, head.fields, _length_at(head.fields))

    def head(self, length: int) -> RequestHead:
        """Return the head as it comes with this length."""
        return RequestHead(
            self.method, self.target, _with_length(self.fields, self.length_at, length), length=length, form=self.form
        )


class KnownAnswer(msgspec.Struct, frozen=True):
    """The head of a server's last answer. `patience` is how long its connection may rest."""

    form: HeadForm
    status: int
    reason: bytes
    fields: list[Field]
    index: dict[bytes, bytes]
    length_at: int
    patience: float

    @classmethod
    def of(cls, head: ResponseHead, begun: bytes, patience: float) -> "Self | None":
        """Return what is kept of a head that was parsed, and set its form; None for one that is parsed each time."""
        form = head_form(b"HTTP/1.1 %d %s" % (head.status, head.reason), head.fields, begun)
        if form is None:
            return None
        head.form = form
        index = {name.lower(): value for name, value in reversed(head.fields)}
        return cls(form, head.status, head.reason, head.fields, index, _length_at(head.fields), patience)

    def head(self, length: int) -> ResponseHead:
        """Return the head as it comes with this length."""
        return ResponseHead(
            self.status,
            self.reason,
            _with_length(self.fields, self.length_at, length),
            length,
            {**self.index, _LENGTH: b"%d" % length},
            form=self.form,
        )


def _length_at(fields: list[Field]) -> int:
    return next(number for number, (name, _) in enumerate(fields) if name.lower() == _LENGTH)


def _with_length(fields: list[Field], at: int, length: int) -> list[Field]:
    changed = fields.copy()
    changed[at] = (fields[at][0], b"%d" % length)
    return changed
