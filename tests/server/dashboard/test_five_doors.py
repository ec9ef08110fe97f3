"""docs/five-doors.md: its examples in TypeScript and for curl run against `toolvet serve`, and print what it says.

Its Python examples are run with those of the other pages. TypeScript comes from npm: `make live` installs it.
"""

import json
import re
import shutil
import subprocess
from pathlib import Path

import httpx2
import pytest
from tests.live.servers import npm_modules
from tests.server.dashboard.serving import serving
from tests.server.dashboard.test_http_api_docs import EXAMPLE, holds, last_reply
from tests.server.dashboard.test_serve_command import started

from toolvet.server.dashboard.app import endpoints

PAGE = (Path(__file__).parents[3] / "docs" / "five-doors.md").read_text("utf-8")
DOORS = ("check_arguments", "check_result", "check_answer", "repair_json", "wrap")


def blocks(language: str, text: str = PAGE) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


def test_every_function_has_an_example_in_each_language() -> None:
    sections = dict(re.findall(r"^## (\w+)\n(.*?)(?=^## |\Z)", PAGE, re.DOTALL | re.MULTILINE))
    assert tuple(sections) == DOORS
    for name, section in sections.items():
        assert len([blocks(language, section) for language in ("python", "ts", "text", "sh", "json")]) == 5
        assert f"toolvet.{name}(" in blocks("python", section)[0]


@pytest.mark.skipif(shutil.which("curl") is None, reason="needs curl")
def test_every_request_of_the_page_gets_the_reply_it_shows(tmp_path: Path) -> None:
    examples = EXAMPLE.findall(PAGE)
    assert len(examples) == len(DOORS)
    with started(tmp_path) as (_, url):
        for script, reply in examples:
            found = last_reply(script, url)
            assert holds(found, json.loads(reply)), (script, found)


@pytest.mark.live
def test_the_typescript_of_the_page_compiles_strictly_and_prints_what_it_shows(tmp_path: Path) -> None:
    modules = npm_modules("five-doors", "typescript@5.9.3", "openapi-typescript@7.13.0", "@types/node@22", "node@22")
    node = shutil.which("node")
    assert node is not None
    with started(tmp_path) as (_, url):
        types = [f"{url}/openapi.json", "--default-non-nullable=false", "-o", "toolvet-api.ts"]
        strict = ["--strict", "--noUncheckedIndexedAccess", "--module", "nodenext", "--target", "es2022"]
        (tmp_path / "package.json").write_text('{"type": "module"}')
        (tmp_path / "node_modules").symlink_to(modules)
        (tmp_path / "doors.ts").write_text("\n".join(blocks("ts")).replace('"./toolvet-api"', '"./toolvet-api.js"'))
        commands = (
            [node, str(modules / "openapi-typescript" / "bin" / "cli.js"), *types],
            [node, str(modules / "typescript" / "bin" / "tsc"), *strict, "doors.ts"],
            [node, "doors.js"],
        )
        for command in commands:
            env = {"URL": url, "PATH": "/usr/bin:/bin"}
            done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout == "".join(blocks("text"))


def test_the_examples_of_the_document_are_accepted(tmp_path: Path) -> None:
    shown = [each for each in endpoints() if each.example is not None]
    checks = {f"/v1/check/{kind}" for kind in ("arguments", "result", "answer")}
    assert {each.path for each in shown} >= {"/v1/repairs", *checks}
    with serving(f"{tmp_path}/a.db") as running, running.client() as client:
        document = client.get("/openapi.json").json()
        for each in shown:
            described = document["paths"][each.path]["post"]["requestBody"]["content"]["application/json"]
            reply = client.post(each.path, json=described["example"])
            assert reply.status_code == 200, reply.text
            assert "unchecked" not in reply.json()


def test_a_text_is_repaired_for_a_schema_a_tool_or_while_it_is_written(tmp_path: Path) -> None:
    tool = {"name": "search", "inputSchema": {"properties": {"limit": {"type": "integer"}}, "required": ["limit"]}}
    with serving(f"{tmp_path}/a.db") as running, running.client() as client:

        def repaired(**body: object) -> httpx2.Response:
            return client.post("/v1/repairs", json=body)

        expected = {"ok": True, "value": {"limit": 10}}
        assert holds(repaired(text="{'limit': '10'", tool=tool).json(), expected)
        assert holds(repaired(text="{'limit': '10'", schema=tool["inputSchema"]).json(), expected)
        assert holds(repaired(text='{"limit": 10, "n', partial=True).json(), expected)
        assert holds(repaired(text="null").json(), {"ok": True, "value": None, "confidence": "high"})
        refused = repaired(text="I need more details.", tool=tool).json()
        assert (refused["ok"], refused["value"], refused["error"][:1]) == (False, None, "❌")
        for wrong, field in (({"schema": {"type": "x"}}, "schema"), ({"tool": {}}, "tool"), ({"text": 5}, "text")):
            reply = repaired(**{"text": "{}", **wrong})
            assert (reply.status_code, reply.json()["data"]["details"]["field"]) == (422, field)
