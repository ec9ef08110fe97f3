"""Arguments without effect and things that do not exist are found by calls that differ in one argument."""

import asyncio
import sys
from pathlib import Path

from toolvet.assess import Options, Report, assess
from toolvet.mcp.transport import StdioTarget

SERVER = Path(__file__).parents[1] / "servers" / "ignores.py"


def assessed(*words: str) -> Report:
    target = StdioTarget(command=sys.executable, args=(str(SERVER), *words))
    return asyncio.run(assess(target, Options(timeout=10)))


def test_what_is_ignored_is_found() -> None:
    found = {(finding.id, finding.tool, finding.pointer) for finding in assessed().findings}
    assert found >= {
        ("argument-without-effect", "list_books", "/search"),
        ("argument-without-effect", "list_books", "/limit"),
        ("argument-without-effect", "list_books", "/cursor"),
        ("invalid-accepted", "get_book", ""),
        ("absent-answered", "list_files", "/path"),
    }


def test_what_is_read_and_checked_is_fine() -> None:
    assert [finding for finding in assessed("careful").findings if finding.severity != "info"] == []
