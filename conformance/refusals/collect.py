"""Collect the words with which validation libraries and SDKs refuse arguments.

    python conformance/refusals/collect.py [FOLDER]

Installs each library at several versions under `.conformance/refusals` (or the folder that is given), sends the calls
of `cases.json`, and writes `refusals.jsonl` beside this file: library, version, case, text. The tests read that file:
each text is a refusal, and none a crash. An environment that is there is used again.
"""

import json
import subprocess
import sys
import venv
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).parent.absolute()
CASES: dict[str, object] = json.loads((HERE / "cases.json").read_text())
# Environment, requirements, and what is run in it: a library, a server, or a low-level server.
PYTHON = [
    ("pydantic-1", ["pydantic==1.10.26"], "library"),
    ("pydantic-2.0", ["pydantic==2.0.3"], "library"),
    ("pydantic-2.5", ["pydantic==2.5.3"], "library"),
    ("pydantic-2.14", ["pydantic==2.14.3"], "library"),
    ("jsonschema", ["jsonschema==4.17.3"], "library"),
    ("fastmcp-2.3", ["fastmcp==2.3.5", "mcp==1.9.4", "pydantic==2.11.10"], "server"),
    ("fastmcp-2", ["fastmcp==2.14.7"], "server"),
    ("fastmcp-3", ["fastmcp==3.2.4"], "server"),
    ("fastmcp-4", ["fastmcp==4.1.0"], "server"),
    ("mcp-1.9", ["mcp==1.9.4", "pydantic==2.11.10"], "server"),
    ("mcp-1", ["mcp==1.30.0"], "server"),
    ("mcp-1", ["mcp==1.30.0"], "low"),
    ("mcp-2", ["mcp==2.3.0"], "server"),
]
TYPESCRIPT = [
    ("ts-1", ["@modelcontextprotocol/sdk@1", "zod@3"], "1"),
    ("ts-1-zod4", ["@modelcontextprotocol/sdk@1", "zod@4"], "1"),
    ("ts-2", ["@modelcontextprotocol/server@2", "zod@4"], "2"),
]
LIBRARIES = ["zod3@npm:zod@3", "zod4@npm:zod@4", "ajv@8", "valibot@1", "@sinclair/typebox@0.34"]


def main() -> None:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".conformance/refusals").absolute()
    folder.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps(row, ensure_ascii=False) for row in collect(folder)]
    (HERE / "refusals.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{len(lines)} refusals in {HERE / 'refusals.jsonl'}")


def collect(folder: Path) -> Iterator[dict[str, str]]:
    for name, requirements, kind in PYTHON:
        python = install_python(folder / name, requirements)
        label = f"{name} low-level" if kind == "low" else name
        if kind == "library":
            texts = read_json([python, HERE / "python_library.py", name.partition("-")[0]])
        else:
            texts = ask([python, HERE / "python_server.py", kind])
        yield from rows(label, texts)
    libraries = install_node(folder / "js", LIBRARIES)
    for name, texts in read_json(["node", HERE / "libraries.mjs", libraries]).items():
        yield from rows(name, texts)
    for name, requirements, version in TYPESCRIPT:
        yield from rows(
            name,
            ask(["node", HERE / "typescript_server.mjs", install_node(folder / name, requirements), version]),
        )


def rows(source: str, texts: dict[str, str]) -> Iterator[dict[str, str]]:
    for case, text in texts.items():
        if text != "added":
            yield {"source": source, "case": case.strip(), "text": text}


def install_python(folder: Path, requirements: list[str]) -> Path:
    if not folder.exists():
        venv.create(folder, with_pip=True)
        subprocess.run([folder / "bin" / "pip", "-q", "install", *requirements], check=True)
    return folder / "bin" / "python"


def install_node(folder: Path, requirements: list[str]) -> Path:
    if not folder.exists():
        folder.mkdir()
        (folder / "package.json").write_text('{"type": "module"}')
        command = ["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--silent", *requirements]
        subprocess.run(command, cwd=folder, check=True)
    return folder


def read_json(command: list[object]) -> dict[str, object]:
    done = subprocess.run([str(part) for part in command], check=True, capture_output=True, text=True)
    found: dict[str, object] = json.loads(done.stdout)
    return found


def ask(command: list[object]) -> dict[str, str]:
    """Each case's answer of a server over stdio: the text of its result, or its protocol error as clients show it."""
    requests = [
        request(0, "initialize", {
            "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "collect", "version": "1"},
        }),
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
    ]  # fmt: skip
    calls = [request(i, "tools/call", {"name": "add", "arguments": case}) for i, case in enumerate(CASES.values(), 1)]
    texts: dict[str, str] = {}
    names = dict(enumerate(CASES, 1))
    with subprocess.Popen(
        [str(part) for part in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        text=True,
    ) as server:  # fmt: skip
        assert server.stdin  # noqa: S101 - A pipe.
        assert server.stdout  # noqa: S101 - A pipe.
        for message in [*requests, *calls]:
            server.stdin.write(json.dumps(message) + "\n")
            server.stdin.flush()
        for line in server.stdout:
            answer = json.loads(line)
            if answer.get("id") in names:
                texts[names[answer["id"]]] = words(answer)
            if len(texts) == len(names):
                break
        server.terminate()
    return {name: texts[name] for name in CASES if name in texts}


def request(identifier: int, method: str, params: dict[str, object]) -> dict[str, object]:
    return {"jsonrpc": "2.0", "id": identifier, "method": method, "params": params}


def words(answer: dict[str, object]) -> str:
    match answer:
        case {"error": {"code": code, "message": message}}:
            return f"MCP error {code}: {message}"
        case {"result": {"content": [{"text": str(text)}, *_]}}:
            return text
    return ""


if __name__ == "__main__":
    main()
