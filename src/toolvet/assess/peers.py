"""A server in, a comparison out: what we find in it, beside what other programs find.

    >>> import asyncio
    >>> from toolvet.assess.peers import compare_with_peers
    >>> from toolvet.mcp.transport import StdioTarget
    >>> report = asyncio.run(compare_with_peers(StdioTarget(command="my-server")))  # doctest: +SKIP

A program is run only if it is installed, and nothing is downloaded. Each runs with the minimal environment and in a
place of its own, as the server does, with limits on time and output. `peers.toml` has the command of each, and the
findings that are the same as one of ours.
"""

import asyncio
import os
import shlex
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import Final

import msgspec

from toolvet.assess import Options, assess
from toolvet.assess.report.peers import PeerRun, PeersReport, SharedFinding
from toolvet.assess.workspace import Concealer, open_workspace
from toolvet.core.discover import read_toml
from toolvet.core.json_value import elements, members
from toolvet.core.redact import redact_text
from toolvet.core.visible import shorten
from toolvet.mcp.transport import (
    HttpTarget,
    StdioTarget,
    Target,
    child_environment,
    end_orphans,
    forget,
    starting_server,
)
from toolvet.version import __version__

OURS: Final = "toolvet"
_LONGEST: Final = 200
_PIECE: Final = 65_536
_VERSION_SECONDS: Final = 20.0
_PAUSE_SECONDS: Final = 0.05


@dataclass(frozen=True, kw_only=True)
class PeerLimits:
    """How long each program may run, in seconds, and how many bytes it may write to stdout and to stderr."""

    seconds: float = 120.0
    output: int = 16 * 1024 * 1024


class PeerFinding(msgspec.Struct, frozen=True):
    """One finding of a peer: its id there, and its words."""

    id: str
    words: str


class PeerOutput(msgspec.Struct, frozen=True, kw_only=True):
    """The output of a peer: its findings and its score, or why its output cannot be read."""

    findings: tuple[PeerFinding, ...] = ()
    score: str = ""
    problem: str = ""


class SameFinding(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A finding of a peer that is one of ours; with `says`, only where its words contain these."""

    id: str
    check: str
    says: str = ""


class PeerProgram(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One table of `peers.toml`."""

    program: str
    install: str
    tested: str
    command: tuple[str, ...]
    url: tuple[str, ...]
    reads: str
    version: tuple[str, ...] = ()
    same: tuple[SameFinding, ...] = ()

    def words(self, target: Target) -> list[str]:
        """Its command line for a server, without the program."""
        if isinstance(target, HttpTarget):
            return [word.replace("{url}", target.url) for word in self.url]
        server = [target.command, *target.args]
        found = list[str]()
        for word in self.command:
            found += server if word == "{words}" else [word.replace("{line}", shlex.join(server))]
        return found

    def check_of(self, finding: PeerFinding) -> str | None:
        """Return the check of ours that looks for the same; None if there is none."""
        fits = (each for each in self.same if each.id == finding.id and each.says in finding.words)
        return next((each.check for each in fits), None)


class PeerTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`peers.toml` as written."""

    peer: dict[str, PeerProgram]


@cache
def peer_programs() -> dict[str, PeerProgram]:
    """Return the programs that we can run, by their names."""
    return read_toml("toolvet.assess", "peers.toml", PeerTable).peer


async def compare_with_peers(
    target: Target, options: Options | None = None, limits: PeerLimits | None = None
) -> PeersReport:
    """Assess a server, run each peer that is installed on it, and join the findings by check.

    Args:
        target: The server: a command to start or a URL. Headers of a URL are not handed to peers.
        options: Those of our own assessment; peers get their own defaults, and start the server in a workspace of
            its own.
        limits: Those of each peer.

    Returns:
        The comparison. A peer that crashes, hangs or floods is a row of it.

    Raises:
        UnreachableError: No session could be opened.
        AuthenticationError: The server refused the credentials.
    """
    options, limits = options or Options(), limits or PeerLimits()
    began = time.perf_counter()
    report = await assess(target, options)
    score = "" if report.score is None else f"{report.score:g}/100"
    runs = [
        PeerRun(
            name=OURS,
            outcome="ran",
            version=__version__,
            seconds=round(time.perf_counter() - began, 1),
            score=score,
            findings=len(report.findings),
        )
    ]
    found: list[tuple[str, str | None, PeerFinding]] = [
        (OURS, each.id, PeerFinding(each.id, each.message)) for each in report.findings
    ]
    for name, peer in peer_programs().items():
        run, findings = await _run_peer(name, peer, target, options, limits)
        runs.append(run)
        found += [(name, peer.check_of(each), each) for each in findings]
    return PeersReport(command=target.describe(), runs=runs, findings=_joined(found), toolvet_version=__version__)


def _joined(found: Iterable[tuple[str, str | None, PeerFinding]]) -> list[SharedFinding]:
    rows = dict[tuple[str, str], list[tuple[str, str | None, PeerFinding]]]()
    for name, check, finding in found:
        rows.setdefault(("", check) if check else (name, finding.id), []).append((name, check, finding))
    shared = [
        SharedFinding(
            check=row[0][1],
            found_by={name: sum(each[0] == name for each in row) for name in dict.fromkeys(each[0] for each in row)},
            words=shorten(redact_text(row[0][2].words[: 20 * _LONGEST]), _LONGEST),
            theirs=sorted({f"{name} {finding.id}" for name, _, finding in row if name != OURS}),
        )
        for row in rows.values()
    ]
    return sorted(shared, key=lambda row: (-len(row.found_by), row.check is None, row.check or "", row.theirs))


async def _run_peer(
    name: str, peer: PeerProgram, target: Target, options: Options, limits: PeerLimits
) -> tuple[PeerRun, tuple[PeerFinding, ...]]:
    program = shutil.which(peer.program)
    if program is None:
        return PeerRun(name=name, outcome="not_installed", tested=peer.tested, install=peer.install), ()
    workspace = open_workspace(target, keep_home=options.keep_home, sandbox=options.sandbox)
    try:
        placed = workspace.target
        extra = placed.env if isinstance(placed, StdioTarget) else None
        cwd = placed.cwd if isinstance(placed, StdioTarget) else None
        environment = child_environment(extra)
        version = ""
        if peer.version:
            said = await _execute(
                [program, *peer.version], environment, cwd, PeerLimits(seconds=_VERSION_SECONDS, output=limits.output)
            )
            version = said.out.decode(errors="replace").strip().rpartition("\n")[2][-40:]
        began = time.perf_counter()
        done = await _execute([program, *peer.words(placed)], environment, cwd, limits)
        seconds = round(time.perf_counter() - began, 1)
        concealer = Concealer(placed, workspace.folder)
    except OSError as error:
        return PeerRun(name=name, outcome="failed", tested=peer.tested, problem=f"cannot start: {error.strerror}"), ()
    finally:
        workspace.close()
    read = PeerOutput(problem=done.problem) if done.problem else read_output(peer.reads, done.out)
    problem = read.problem
    if problem and done.err.strip():
        problem = f"{problem}; it says: {done.err.decode(errors='replace').strip()[-_LONGEST:]}"
    findings = tuple(PeerFinding(each.id, concealer.text(each.words)) for each in read.findings)
    run = PeerRun(
        name=name,
        outcome="failed" if problem else "ran",
        version=version,
        tested=peer.tested,
        exit_code=done.code,
        seconds=seconds,
        score=read.score,
        findings=len(findings),
        problem=redact_text(concealer.text(problem)),
        install=peer.install,
    )
    return run, findings


class PeerExit(msgspec.Struct, frozen=True, kw_only=True):
    """How a program ended, and what it wrote; `problem` says which limit it broke, or is ""."""

    code: int | None
    out: bytes
    err: bytes
    problem: str = ""


async def _execute(words: Sequence[str], env: dict[str, str], cwd: str | None, limits: PeerLimits) -> PeerExit:
    with starting_server() as note:
        process = await asyncio.create_subprocess_exec(
            *words,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=env,
            cwd=cwd,
            start_new_session=True,
        )
        note(process.pid)
    kept, problem = (bytearray(), bytearray()), ""
    try:
        async with asyncio.timeout(limits.seconds):
            streams = (_read(process.stdout, kept[0], limits.output), _read(process.stderr, kept[1], limits.output))
            whole = await asyncio.gather(*streams)
            if not all(whole):
                problem = f"it wrote more than {limits.output:,} bytes"
            else:
                await process.wait()
    except TimeoutError:
        problem = f"it took more than {limits.seconds:g} s"
    finally:
        with suppress(ProcessLookupError, PermissionError):
            if sys.platform == "win32":
                process.kill()
            else:
                os.killpg(process.pid, signal.SIGKILL)
        await process.wait()
        # A peer that was killed leaves its server behind, which has a session of its own.
        for _ in end_orphans(process.pid):
            await asyncio.sleep(_PAUSE_SECONDS)
        forget(process.pid)
    return PeerExit(code=process.returncode, out=bytes(kept[0]), err=bytes(kept[1]), problem=problem)


async def _read(stream: asyncio.StreamReader | None, kept: bytearray, limit: int) -> bool:
    while stream is not None and (piece := await stream.read(_PIECE)):
        kept += piece
        if len(kept) > limit:
            return False
    return True


def read_output(kind: str, output: bytes) -> PeerOutput:
    """Read what a peer wrote to stdout; `kind` is `reads` in its table."""
    try:
        document: object = msgspec.json.decode(output)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        return PeerOutput(problem=f"its output is not JSON: {error}")
    return _READERS[kind](members(document))


def _read_mcpscore(document: Mapping[str, object]) -> PeerOutput:
    failed = [each for each in map(members, elements(document.get("results"))) if each.get("passed") is False]
    found = tuple(PeerFinding(str(each.get("rule_id")), str(each.get("message"))) for each in failed)
    return PeerOutput(findings=found, score=f"{document.get('score')}/{document.get('max_score')}")


def _read_mcp_assert(document: Mapping[str, object]) -> PeerOutput:
    results = [members(each) for each in elements(document.get("results"))]
    bad = [each for each in results if each.get("status") != "skipped" and each.get("error_code") not in (None, "E000")]
    found = tuple(PeerFinding(str(each.get("error_code")), f"{each.get('tool')}: {each.get('detail')}") for each in bad)
    return PeerOutput(findings=found, score=f"{document.get('score')}/100")


def _read_inspector(document: Mapping[str, object]) -> PeerOutput:
    """It lists the tools and judges nothing: what it finds is that this can be done."""
    tools = document.get("tools")
    return PeerOutput() if isinstance(tools, list) else PeerOutput(problem="its output has no tools")


_READERS: Final[Mapping[str, Callable[[Mapping[str, object]], PeerOutput]]] = {
    "mcpscore": _read_mcpscore,
    "mcp-assert": _read_mcp_assert,
    "inspector": _read_inspector,
}
