"""The work of `toolvet compare`: a server → tables and documents."""

import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from toolvet.assess import Options
from toolvet.assess.peers import PeerLimits, compare_with_peers
from toolvet.assess.report import PEERS_FORMATS, encode_document, print_peers
from toolvet.cli.documents import parse_reports, write_documents
from toolvet.cli.target import parse_variable, read_target
from toolvet.errors import UsageError
from toolvet.mcp.transport import adopt_orphans


def compare_and_report(
    words: Sequence[str],
    *,
    env: Sequence[str] | None,
    cwd: Path | None,
    sandbox: bool,
    seconds: float,
    reports: Sequence[str] | None,
    as_json: bool,
    quiet: bool,
) -> int:
    """Compare, print and write the documents. Returns 0; raises UsageError for wrong words."""
    writers = parse_reports(reports, tuple(PEERS_FORMATS))
    if not words:
        raise UsageError("which server? Give a command (toolvet compare -- python server.py), or a URL")
    if not seconds > 0:
        raise UsageError(f"--timeout {seconds:g}: must be greater than 0")
    target = read_target(
        words, headers={}, environment=dict(map(parse_variable, env or ())), cwd=str(cwd) if cwd else None
    )
    adopt_orphans()
    document = asyncio.run(compare_with_peers(target, Options(sandbox=sandbox), PeerLimits(seconds=seconds)))
    if as_json:
        sys.stdout.write(encode_document(document))
    elif not quiet and all(file != "-" for _, file in writers):
        print_peers(document, Console())
    write_documents(document, writers, PEERS_FORMATS, quiet=quiet)
    return 0
