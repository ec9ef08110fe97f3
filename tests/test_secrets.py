"""Secrets of 38 kinds, in every place that a server or a client can put them, are in no output."""

import json
import os
import stat
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from toolvet.assess.report import formats
from toolvet.store.private_file import make_private

SERVER = Path(__file__).parent / "servers" / "leaky.py"
WORD = "Zq7Zq7Zq7Zq7Zq7Zq7Zq7Zq7Zq7Zq7Zq7Zq7Zq7"
KINDS = {
    "private key": f"-----BEGIN PRIVATE KEY-----\nPK{WORD}\n-----END PRIVATE KEY-----",
    "bearer": f"Bearer BE{WORD}",
    "basic": f"Authorization: Basic BA{WORD}=",
    "openai": f"sk-OA{WORD}",
    "stripe": f"sk_live_ST{WORD}",
    "github": f"ghp_GH{WORD}",
    "github fine": f"github_pat_GF{WORD}",
    "gitlab": f"glpat-GL{WORD}",
    "slack": f"xoxb-SL{WORD}",
    "hugging face": f"hf_HF{WORD}",
    "npm": f"npm_NP{WORD}",
    "pypi": f"pypi-PY{WORD}",
    "google": f"AIzaGO{WORD}",
    "aws": "AKIAZ7ZQ7ZQ7ZQ7ZQ7ZQ",
    "jwt": f"eyJhbGciOiJIUzI1NiJ9.eyJ{WORD}.JW{WORD}",
    "url": f"postgres://bob:UR{WORD[:20]}@db/shop",
    "assigned": f"password=AS{WORD[:20]}",
    "quoted": f'{{"api_key": "QU{WORD[:20]}"}}',
    "query": f"https://x.example/?access_token=QY{WORD[:20]}",
    "variable": f"export GITHUB_TOKEN=VA{WORD[:20]}",
    # Of no known shape: the words in front of them say what they are.
    "colon": f"password: CO{WORD[:20]}",
    "spaces": f'password = "SP{WORD[:20]}"',
    "single quotes": f"apiKey: 'SQ{WORD[:20]}'",
    "double quotes": f'token: "DQ{WORD[:20]}"',
    "client": f"client_secret: acme_CS{WORD[:20]}",
    "option": f"--password=OP{WORD[:20]}",
    "option with a blank": f"--api-key OB{WORD[:20]}",
    "header in a line": f"curl -H 'X-API-Key: HE{WORD[:20]}' x",
    "scheme": f"Authorization: Token SC{WORD[:20]}",
    "set-cookie": f"Set-Cookie: sid=CK{WORD[:20]}; Path=/ ; done",
    "libpq": f"PGPASSWORD=PG{WORD[:20]}",
    "azure": f"AccountName=shop;AccountKey=AZ{WORD}==;EndpointSuffix=core.windows.net",
    "webhook": f"https://hooks.slack.com/services/T0AAAAAAA/B0AAAAAAA/{WORD[:24]}",
    "telegram": f"123456789:AA{WORD[:33]}",
    "url with a sign": f"mysql://root:p%40UA{WORD[:20]}@10.0.0.3/x",
    "german": f"Passwort: DE{WORD[:20]}",
    "french": f"mot de passe : FR{WORD[:20]}",
    "sentence": f"your password is SE{WORD[:20]}",
}
ENV, TOKEN, ARGUMENT, HEADER = "ENVVALUE777", "ARGTOKEN555", "FIXTUREPW1", "HEADERVAL999"
# `Zq7Zq7` is in all but a few; a half of a secret counts as the secret.
PLANTED = ("Zq7Zq7", "Z7ZQ7ZQ7", "Kq81Kq81", ENV, TOKEN, ARGUMENT, HEADER)
OPENING = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}}
NAMES = ("get_fails", "get_hides", "get_structured", "get_error", "get_crash", "get_good", "get_echo")


def found(document: str) -> list[str]:
    """Where a secret is in `document`, with the words before it."""
    places = ((document.find(secret), len(secret)) for secret in PLANTED)
    return [document[max(0, place - 200) : place + size] for place, size in places if place >= 0]


@pytest.fixture
def server(tmp_path: Path) -> list[str]:
    (tmp_path / "secrets.json").write_text(json.dumps(list(KINDS.values())), encoding="utf-8")
    return [sys.executable, str(SERVER), str(tmp_path / "secrets.json"), "--token", TOKEN]


def toolvet(*words: str, cwd: Path, given: str = "", **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "toolvet", *words],
        cwd=cwd,
        env={**os.environ, **env},
        input=given,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def calls() -> Iterator[dict[str, Any]]:
    yield {"id": 0, "method": "initialize", "params": OPENING}
    yield {"id": 90, "method": "tools/list"}
    for number, name in enumerate(NAMES, 1):
        arguments = {"user": " ".join(KINDS.values()), "password": ARGUMENT}
        meta = {"dev.toolvet/trace": "turn-1", "note": " ".join(KINDS.values())}
        yield {"id": number, "method": "tools/call", "params": {"name": name, "arguments": arguments, "_meta": meta}}
        if number == 1:
            hidden = {"dev.toolvet/trace": f"turn:{KINDS['github']}"}
            named = {"name": f"{name} {KINDS['openai']}", "arguments": arguments, "_meta": hidden}
            yield {"id": number + 70, "method": "tools/call", "params": named}
        wrong = {"user": [ARGUMENT], "password": [ARGUMENT], "token": ARGUMENT}
        yield {"id": number + 50, "method": "tools/call", "params": {"name": name, "arguments": wrong}}


def spoken() -> str:
    return "".join(json.dumps({"jsonrpc": "2.0", **message}) + "\n" for message in calls())


def test_no_report_of_assess_shows_one(server: Sequence[str], tmp_path: Path) -> None:
    names = sorted(formats())
    reports = [f"--report={name}={tmp_path}/report.{name}" for name in names]
    options = ("--env", f"SHOP_API_KEY={ENV}", "--fail-on=never", "--timeout=10")
    (tmp_path / "toolvet.toml").write_text(
        f'[[fixtures.get_echo]]\nuser = "a"\npassword = "{ARGUMENT}"\n', encoding="utf-8"
    )
    for name in names:
        (tmp_path / f"report.{name}").touch(mode=0o644)
    done = toolvet("assess", *options, *reports, "--", *server, cwd=tmp_path)
    assert done.returncode == 0, done.stderr[-500:]
    assert not found(done.stdout + done.stderr)
    assert '"get_echo"' in (tmp_path / "report.json").read_text(encoding="utf-8")
    for name in names:
        file = tmp_path / f"report.{name}"
        assert not found(file.read_text(encoding="utf-8")), name
        assert stat.S_IMODE(file.stat().st_mode) == 0o600


@pytest.mark.parametrize("name", ["calls.db", "calls.jsonl"])
@pytest.mark.parametrize("kept", ["verdicts", "calls"])
def test_no_record_shows_one(server: Sequence[str], tmp_path: Path, name: str, kept: str) -> None:
    (tmp_path / "toolvet.toml").write_text(f'[proxy]\nrecord = "{kept}"\n', encoding="utf-8")
    (tmp_path / name).touch(mode=0o644)
    options = ("--env", f"SHOP_API_KEY={ENV}", "--store", name)
    done = toolvet("proxy", *options, "--", *server, cwd=tmp_path, given=spoken())
    assert done.stdout.count('"id"') >= len(NAMES)
    assert ARGUMENT in done.stdout, "what passes is not changed"
    if name == "calls.db":
        told = toolvet("trace", "turn-1", "--store", name, cwd=tmp_path)
        asjson = toolvet("trace", "turn-1", "--store", name, "--json", cwd=tmp_path)
        assert "get_fails" in told.stdout, told.stderr
        assert not found(told.stdout + told.stderr + asjson.stdout)
    written = b"".join(file.read_bytes() for file in tmp_path.glob(f"{name}*")).decode(errors="replace")
    assert written.count("get_echo") >= 1
    assert not found(written)
    assert all(stat.S_IMODE(file.stat().st_mode) == 0o600 for file in tmp_path.glob(f"{name}*"))


def test_no_error_shows_one(server: Sequence[str], tmp_path: Path) -> None:
    options = ("--env", f"SHOP_API_KEY={ENV}", "--env", "REFUSES=1")
    done = toolvet("assess", *options, "--", *server, cwd=tmp_path)
    assert done.returncode == 4
    assert "opens no MCP session" in done.stderr
    assert not found(done.stdout + done.stderr)


@pytest.mark.parametrize("program", ["assess", "proxy"])
def test_an_error_shows_no_header(tmp_path: Path, program: str) -> None:
    url = f"https://user:{TOKEN}@127.0.0.1:9/mcp?api_key={ENV}"
    done = toolvet(program, url, "--header", f"X-Api-Key: {HEADER}", "--header", "Bad Name: x", cwd=tmp_path)
    assert done.returncode == 2
    assert not found(done.stdout + done.stderr)


def test_a_file_of_somebody_else_is_told_and_a_pipe_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "report.json"
    file.touch(mode=0o644)

    def refuse(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    assert make_private(Path(os.devnull))
    assert make_private(tmp_path / "missing")
    with monkeypatch.context() as patched:
        patched.setattr(Path, "chmod", refuse)
        assert not make_private(file)
    assert make_private(file)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
