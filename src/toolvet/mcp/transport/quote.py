"""Text that a peer printed → text that is safe to print again."""

import re

from toolvet.core.redact import redact_text

# A server's stderr may hold colour codes, cursor moves and bells; none of them may reach the reader's terminal.
_ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-_])?")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def printable(foreign: bytes | str, limit: int | None = None) -> str:
    """Decode `foreign` leniently, remove escape sequences and control characters, and cut it to `limit` characters."""
    if limit is not None:
        # UTF-8 has at most four bytes a character: more than this cannot be shown, so it need not be decoded.
        foreign = foreign[: 4 * limit + 4]
    text = foreign.decode(errors="replace") if isinstance(foreign, bytes) else foreign
    clean = _CONTROL.sub("", _ESCAPE.sub("", text))
    return clean if limit is None or len(clean) <= limit else clean[: limit - 1] + "…"


def quotable(foreign: bytes | str, limit: int) -> str:
    """Return what a peer sent, printable, without secrets and cut; half a secret would not look like one."""
    head = foreign[: 20 * limit]
    text = head.decode(errors="replace") if isinstance(head, bytes) else head
    return printable(redact_text(_CONTROL.sub("", _ESCAPE.sub("", text))), limit)


def last_lines(text: str, count: int = 5, width: int = 200) -> str:
    """Return the last `count` lines that are not blank, without secrets, each cut to `width` characters."""
    # The whole text, because the block of a private key has many lines.
    lines = [line.rstrip() for line in redact_text(text).splitlines() if line.strip()]
    return "\n".join(printable(line, width) for line in lines[-count:])
