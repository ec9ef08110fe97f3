"""`toolvet assess --workers` and `--into` from outside: the folder, the overview, and the exit code."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.cli.test_assess_command import FINE, SCRIPTED, TOOL, complaint, toolvet

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the limits are those of POSIX systems")


def configured(folder: Path, **servers: Any) -> list[str]:
    """The options that assess these servers; a server is the answer of its tool, or an entry of `mcp.json`."""
    entries: dict[str, Any] = {}
    for name, server in servers.items():
        if "command" in server:
            entries[name] = server
            continue
        script = folder / f"{name}.json"
        script.write_text(json.dumps({"tools": [TOOL], "answers": {"find_book": server}}), encoding="utf-8")
        entries[name] = {"command": sys.executable, "args": [str(SCRIPTED), str(script)]}
    (folder / "mcp.json").write_text(json.dumps({"mcpServers": entries}), encoding="utf-8")
    return ["assess", "--config", "mcp.json", "--no-sandbox", "--tools-only"]


def test_the_folder_has_an_overview_and_a_page_and_a_report_of_each(tmp_path: Path) -> None:
    words = configured(tmp_path, good={"validate": True}, bad=FINE, gone={"command": "/no/such"})
    done = toolvet(*words, "--workers", "2", "--into", "out", cwd=tmp_path)
    assert done.returncode == 4
    assert sorted(path.name for path in (tmp_path / "out" / "servers").iterdir()) == [
        "bad.html", "bad.json", "good.html", "good.json",
    ]  # fmt: skip
    overview = json.loads((tmp_path / "out" / "overview.json").read_bytes())
    assert [row["name"] for row in overview["ranking"]] == ["good", "bad"]
    assert [(row["name"], row["reason"]) for row in overview["not_assessed"]] == [("gone", "unreachable")]
    page = (tmp_path / "out" / "index.html").read_text(encoding="utf-8")
    assert 'href="servers/good.html"' in page
    assert "2 of 3 servers assessed" in done.stdout
    # A line for each server on stderr, which is not a terminal here.
    assert sum(line.split()[0].endswith("/3") for line in done.stderr.splitlines()) == 3


def test_without_a_folder_the_overview_is_printed_and_documents_are_written(tmp_path: Path) -> None:
    words = configured(tmp_path, bad=FINE)
    done = toolvet(*words, "--workers", "1", "--report", "json=r.json", "--fail-on", "warning", cwd=tmp_path)
    assert done.returncode == 1
    assert "1 of 1 server assessed" in done.stdout
    assert json.loads((tmp_path / "r.json").read_bytes())["server"]["name"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.json", "mcp.json", "r.json"]


def test_json_on_stdout_is_nothing_else(tmp_path: Path) -> None:
    words = configured(tmp_path, one={"validate": True}, two={"validate": True})
    done = toolvet(*words, "--workers", "2", "--json", cwd=tmp_path)
    document = json.loads(done.stdout)
    assert (document["schema"], len(document["reports"])) == ("toolvet-reports/1", 2)


def test_what_a_registry_lists_and_toolvet_cannot_start_is_told(tmp_path: Path) -> None:
    package = {"registryType": "mcpb", "identifier": "https://x/y.mcpb", "transport": {"type": "stdio"}}
    entry = {"server": {"name": "io.github.me/x", "version": "1", "packages": [package]}}
    (tmp_path / "registry.json").write_text(json.dumps({"servers": [entry]}), encoding="utf-8")
    done = toolvet("assess", "--config", "registry.json", "--into", "out", cwd=tmp_path)
    assert "toolvet does not start packages of mcpb" in done.stdout
    overview = json.loads((tmp_path / "out" / "overview.json").read_bytes())
    assert (overview["servers"], overview["not_assessed"][0]["reason"]) == (1, "left out")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            ["--max-memory-mib", "100"],
            "--max-memory-mib is for servers in processes of their own: give --workers N or --into FOLDER",
        ),
        (["--no-sandbox"], "--no-sandbox is for servers in processes of their own"),
        (["--workers", "0"], "--workers 0: must be at least 1"),
        (["--workers", "1", "--sandbox", "--no-sandbox"], "--sandbox and --no-sandbox: one of them"),
        (["--workers", "1", "--max-disk-mib", "0"], "--max-disk-mib 0: must be greater than 0"),
        (["--address", "tcp://127.0.0.1:1"], "--address: give --engine dask or --engine daft, too"),
        (["--engine", "daft"], "--engine daft: give the --address of a Ray cluster"),
        (["--into", "."], "--into .: holds mcp.json, so it is not a folder of results; name an empty one"),
    ],
)
def test_wrong_options_are_told_before_anything_starts(tmp_path: Path, words: list[str], sentence: str) -> None:
    configured(tmp_path, gone={"command": "/no/such"})
    done = toolvet("assess", "--config", "mcp.json", *words, cwd=tmp_path)
    assert done.returncode == 2
    assert sentence in complaint(done)
