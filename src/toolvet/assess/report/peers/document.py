"""What several programs find in one server, as a document: the format `toolvet-peers/1`, field by field.

Within version 1 fields are only added, never renamed or removed.
"""

from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta

PEERS_ID: Final = "toolvet-peers/1"


class PeerRun(msgspec.Struct, frozen=True, kw_only=True):
    """How one program ran. `problem` says why it has no findings to show, and is "" where it has.

    `tested` is the version whose output the table of peers was read from; another one may be read wrongly.
    """

    name: str
    outcome: Literal["ran", "failed", "not_installed"]
    version: str = ""
    tested: str = ""
    exit_code: int | None = None
    seconds: float = 0.0
    score: str = ""
    findings: int = 0
    problem: str = ""
    install: str = ""


class SharedFinding(msgspec.Struct, frozen=True, kw_only=True):
    """What one or several programs found. `check` is our check; null where no check of ours looks for it.

    `found_by` counts the findings of each program by its name; `words` are those of the first of them.
    """

    check: str | None
    found_by: dict[str, int]
    words: Annotated[str, Meta(description="In the words of the first program that found it, secrets masked.")] = ""
    theirs: list[str] = []


class PeersReport(msgspec.Struct, frozen=True, kw_only=True):
    """One server, looked at by several programs. What all found comes first, what one alone found last."""

    schema: Literal["toolvet-peers/1"] = PEERS_ID
    command: str
    runs: list[PeerRun]
    findings: list[SharedFinding]
    toolvet_version: str = ""
