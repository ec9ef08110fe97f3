"""The lines of docs/quickstart.md, run as a newcomer runs them: what the page shows is what comes out."""

import os
import re
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

import pytest

PAGE = (Path(__file__).parent.parent / "docs" / "quickstart.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
WAYS = [
    ("An MCP server", "server.py", ["fastmcp"]),
    ("An agent in LangChain", "agent.py", ["langchain"]),
    ("Claude Code with two MCP servers", ".mcp.json", ["mcp_server_time", "mcp_server_git"]),
    ("A folder of logs", "logs/talks.jsonl", ["pyarrow"]),
]


def squeezed(text: str) -> str:
    """Without the breaks and the padding of the terminal."""
    return re.sub(r"\s+", " ", text).strip()


@pytest.mark.skipif(sys.platform == "win32", reason="the page is for a POSIX shell")
@pytest.mark.parametrize(("title", "name", "needs"), WAYS, ids=[title for title, *_ in WAYS])
def test_what_the_page_shows_is_what_comes_out(title: str, name: str, needs: list[str], tmp_path: Path) -> None:
    missing = [module for module in needs if find_spec(module) is None]
    if missing:
        pytest.skip(f"needs {', '.join(missing)}")
    blocks = BLOCK.findall(PAGE.split(f"## {title}\n")[1].split("\n## ")[0])
    file = tmp_path / name
    file.parent.mkdir(exist_ok=True)
    file.write_text(next(text for kind, text in blocks if kind in {"python", "json"}), encoding="utf-8")
    printed = ""
    for kind, text in blocks:
        if kind == "toml":
            (tmp_path / "toolvet.toml").write_text(text, encoding="utf-8")
            assert "Score 75/100 on 2 of 2 tools" in run("toolvet assess -- python server.py", tmp_path)
        elif kind == "sh":
            out = run(text, tmp_path)
            # As the page says: a server that starts slowly is known for a later call.
            for _ in range(200):
                if "hook claude <<" not in text or '"deny"' in out:
                    break
                time.sleep(0.1)
                out = run(text, tmp_path)
            printed += out
        elif kind == "text":
            # The lines between two ellipses are printed as they are, in this order.
            rest = squeezed(printed)
            for part in filter(None, map(squeezed, text.split("…"))):
                assert part in rest, f"{part!r} is not in the rest of:\n{printed}"
                rest = rest.partition(part)[2]


@pytest.mark.skipif(sys.platform == "win32", reason="the page is for a POSIX shell")
def test_the_readme_shows_what_its_first_command_prints(tmp_path: Path) -> None:
    pytest.importorskip("fastmcp")
    readme = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")
    assert len(readme.encode()) <= 8192
    (tmp_path / "server.py").write_text(next(text for kind, text in BLOCK.findall(PAGE) if kind == "python"))
    (_, command), (_, shown), *_ = BLOCK.findall(readme)
    printed = squeezed(run(command, tmp_path))
    for line in shown.splitlines():
        # The name of the server is followed by the version of its SDK.
        assert squeezed(re.sub(r"^orders [\d.]+", "orders", line)) in re.sub(r"orders [\d.]+", "orders", printed)


def run(lines: str, folder: Path) -> str:
    """The output of the lines of shell, in an empty home, with the programs beside this Python."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["sh", "-c", lines],
        cwd=folder,
        env={**os.environ, "PATH": path, "HOME": str(folder), "COLUMNS": "100"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        check=False,
        timeout=120,
    )
    return done.stdout


def test_every_way_of_the_page_is_tried() -> None:
    headings = re.findall(r"^## (.*)$", PAGE, re.MULTILINE)
    assert headings == [title for title, *_ in WAYS]


def test_the_recording_is_of_the_server_on_the_page() -> None:
    drawn = (Path(__file__).parent.parent / "docs" / "images" / "assess.svg").read_text(encoding="utf-8")
    words = squeezed(re.sub(r"<[^>]*>", "", drawn).replace("&#160;", " "))
    assert "error-without-flag" in words
    assert len(drawn) < 200_000
    assert "https://" not in drawn.replace("https://www.textualize.io", "")


def test_the_picture_of_a_report_is_small_and_made_by_make_recording() -> None:
    root = Path(__file__).parent.parent
    drawn = (root / "docs" / "images" / "report.png").read_bytes()
    assert drawn.startswith(b"\x89PNG")
    assert len(drawn) < 160_000
    assert "docs/site/report_picture.py docs/images" in (root / "Makefile").read_text(encoding="utf-8")
