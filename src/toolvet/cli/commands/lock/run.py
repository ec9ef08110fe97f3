"""The work of `toolvet lock`: a server's definitions → a lock file, or the changes since one was written."""

import asyncio
import json
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from msgspec import structs, to_builtins

from toolvet.assess.locking import lock_server
from toolvet.cli.options import load_lock
from toolvet.cli.target import parse_header, parse_variable, read_target
from toolvet.core.contract import ContractChange, Lock, compare_locks, write_lock
from toolvet.core.visible import escape_unseen, visible
from toolvet.errors import UsageError
from toolvet.mcp.transport import adopt_orphans

_WORDS: Final = {"breaking": "breaking", "unknown": "to be read", "compatible": "compatible"}
_FAILING: Final[Mapping[str, tuple[str, ...]]] = {
    "breaking": ("breaking",),
    "unknown": ("breaking", "unknown"),
    "never": (),
}


@dataclass(frozen=True)
class LockedServer:
    """The server of a command line, and how it is started."""

    words: Sequence[str]
    headers: Sequence[str]
    variables: Sequence[str]
    cwd: Path | None
    sandbox: bool
    timeout: float

    def read(self) -> Lock:
        """Start the server and read its definitions. Raises UsageError for words that name no server."""
        if not self.words:
            raise UsageError("which server? Give a command (toolvet lock -- python server.py), or a URL")
        if not self.timeout > 0:
            raise UsageError(f"--timeout {self.timeout:g}: must be greater than 0")
        target = read_target(
            self.words,
            headers=dict(map(parse_header, self.headers)),
            environment=dict(map(parse_variable, self.variables)),
            cwd=str(self.cwd) if self.cwd else None,
        )
        adopt_orphans()
        return asyncio.run(lock_server(target, timeout=self.timeout, sandbox=self.sandbox))


def write(out: Path, server: LockedServer) -> int:
    """Write the lock of the server to a file, `-` for stdout, and return the exit code."""
    lock = server.read()
    with suppress(UsageError):
        # `toolvet contract` wrote them, from a record.
        lock = structs.replace(lock, contracts=load_lock(out).contracts)
    text = write_lock(lock)
    if str(out) == "-":
        sys.stdout.write(text)
        return 0
    try:
        out.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"--out {out}: {error.strerror}") from error
    sys.stderr.write(f"lock: {out}\n")
    return 0


def compare(
    file: Path, server: LockedServer, *, as_json: bool, fail_on: Literal["breaking", "unknown", "never"]
) -> int:
    """Print the changes since the lock in `file` was written, and return the exit code."""
    old = load_lock(file)
    new = server.read()
    changes = compare_locks(old, new)
    counts = {verdict: sum(each.verdict == verdict for each in changes) for verdict in _WORDS}
    if as_json:
        document = {
            "format": "toolvet-lock-changes/1",
            "server": {"old": old.server, "new": new.server},
            "counts": counts,
            "changes": to_builtins(changes),
        }
        sys.stdout.write(escape_unseen(json.dumps(document, indent=2, ensure_ascii=False)) + "\n")
    else:
        _print(changes, counts)
    return int(any(counts[verdict] for verdict in _FAILING[fail_on]))


def _print(changes: Sequence[ContractChange], counts: Mapping[str, int]) -> None:
    lines: list[str] = []
    for verdict, words in _WORDS.items():
        for each in changes:
            if each.verdict != verdict:
                continue
            lines.append(f"{words:<11} {each.tool}{each.pointer}: {each.reason}")
            if each.counter_example is not None:
                lines.append(f"{'':11} counter-example: {json.dumps(each.counter_example, ensure_ascii=False)}")
            changed = (("-", each.old), ("+", each.new))
            lines.extend(f"{'':11} {sign} {text}" for sign, text in changed if isinstance(text, str))
    total = ", ".join(f"{counts[verdict]} {words}" for verdict, words in _WORDS.items())
    sys.stdout.write(visible("\n".join([*lines, total if changes else "no change"])) + "\n")
