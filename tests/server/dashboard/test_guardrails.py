"""Other products' requests over real HTTP: each table's examples, bodies that are none, keys, and whose is whose."""

import base64
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from tests.agents.frameworks.test_adapters import BAD, BOOK, GOOD, TOOL
from tests.server.dashboard.serving import Running, serving

from toolvet.agents.hook.dialect import HookEvent, dialect_of
from toolvet.agents.hook.servers import server_of
from toolvet.agents.hook.tool_lists import definition_of
from toolvet.core.settings import Settings
from toolvet.proxy.session import ProxySettings
from toolvet.server.dashboard.api import bodies
from toolvet.server.guardrails import answering
from toolvet.server.guardrails.dialect import (
    PRODUCTS,
    GuardrailDialect,
    GuardrailProof,
    Product,
    guardrail_dialect,
    moments_by_path,
)
from toolvet.server.guardrails.memory import BoundedMemory, GuardrailMemory

DOCS = Path(__file__).parents[3] / "docs"
JSON = {"content-type": "application/json"}
CLOCK = {
    "name": "now",
    "inputSchema": {"type": "object", "properties": {"days": {"type": "integer"}}, "required": ["days"]},
}
LITELLM = "/v1/guardrails/litellm/beta/litellm_basic_guardrail_api"
OFFERED = {"type": "function", "function": {"name": "order_book", "parameters": BOOK}}
PEOPLE = [("vera", "viewer"), ("victor", "viewer"), ("rob", "reviewer")]


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with serving(f"{tmp_path_factory.mktemp('guardrails')}/a.db", people=PEOPLE) as made:
        yield made


@pytest.fixture
def client(running: Running) -> Iterator[httpx2.Client]:
    with running.client("rob") as made:
        yield made


def proofs(kind: str) -> list[Any]:
    return [
        pytest.param(product, proof, id=f"{product}-{number}")
        for product in PRODUCTS
        for number, proof in enumerate(getattr(guardrail_dialect(product), kind))
    ]


def asked(client: httpx2.Client, dialect: GuardrailDialect, proof: GuardrailProof, number: str) -> httpx2.Response:
    """Send what comes before an example, and the example."""
    client.put("/v1/guardrails/tools", json={"server": "clock", "tools": json.loads(proof.tools or "[]")})
    first = next(iter(dialect.moments.values())).path
    headers = {**JSON, "x-toolvet-conversation": number}
    for earlier in proof.earlier:
        assert client.post(first, content=earlier, headers=headers).status_code == 200
    return client.post(proof.path, content=proof.given, headers=headers)


@pytest.mark.parametrize(("product", "proof"), proofs("hits"))
def test_what_is_bad_is_answered_in_the_words_of_the_product(
    client: httpx2.Client, product: Product, proof: GuardrailProof
) -> None:
    dialect = guardrail_dialect(product)
    reply = asked(client, dialect, proof, f"{id(proof)}")
    assert reply.status_code == 200, reply.text
    assert proof.says
    assert proof.says in reply.text
    forms = [*dialect.answers.values(), *dialect_of("claude").output.values()]
    assert any(isinstance(form, dict) and set(form) == set(reply.json()) for form in forms) or product == "docker"


@pytest.mark.parametrize(("product", "proof"), proofs("misses"))
def test_what_is_fine_or_in_doubt_passes(client: httpx2.Client, product: Product, proof: GuardrailProof) -> None:
    dialect = guardrail_dialect(product)
    reply = asked(client, dialect, proof, f"{id(proof)}")
    assert reply.status_code in (200, 204), reply.text
    passes: Any = {} if dialect.hook else dialect.answers["pass"]
    assert (reply.json() if reply.content else "") == passes


@pytest.mark.parametrize("room", ["before", "after", "judged_ending", "missing"])
@pytest.mark.parametrize(("product", "proof"), proofs("hits"))
def test_a_check_that_raises_lets_the_product_go_on_and_is_said_once(
    client: httpx2.Client,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    *,
    product: Product,
    proof: GuardrailProof,
    room: str,
) -> None:
    def broken(*_: object, **__: object) -> None:
        rooms.append(room)
        raise KeyError("secret")

    rooms: list[str] = []
    monkeypatch.setattr(answering, room, broken)
    monkeypatch.setattr(bodies, "_SAID", set())
    dialect = guardrail_dialect(product)
    replies = [asked(client, dialect, proof, f"{id(proof)}-{room}") for _ in range(2)]
    passes: Any = {} if dialect.hook else dialect.answers["pass"]
    said = [line for line in capsys.readouterr().err.splitlines() if "because of a bug in toolvet: KeyError" in line]
    assert len(said) == bool(rooms)
    for reply in replies if rooms else ():
        assert reply.status_code == 200 if reply.content else 204
        assert (reply.json() if reply.content else "") == passes


def test_every_table_has_examples_for_each_of_its_routes() -> None:
    for product in PRODUCTS:
        dialect = guardrail_dialect(product)
        for path in moments_by_path(dialect):
            assert any(each.path == path for each in dialect.misses), (product, path)
        assert dialect.hits


def test_the_pages_name_every_route() -> None:
    for page in ("guardrail-dialects.md", "http-api.md"):
        text = (DOCS / page).read_text("utf-8")
        for product in PRODUCTS:
            for path in moments_by_path(guardrail_dialect(product)):
                # The second of two is written `…/after`.
                assert path in text or f"…/{path.rpartition('/')[2]}" in text, (page, path)


@pytest.mark.skipif(shutil.which("curl") is None, reason="needs curl")
def test_the_examples_of_the_page_run(tmp_path: Path) -> None:
    page = (DOCS / "guardrail-dialects.md").read_text("utf-8")
    scripts = [each for each in re.findall(r"```sh\n(.*?)```", page, re.DOTALL) if each.startswith("curl")]
    with serving(f"{tmp_path}/a.db") as own:
        env = {"URL": own.url, "PATH": "/usr/bin:/bin"}
        said = [
            subprocess.run(["sh", "-euc", each], env=env, capture_output=True, check=True).stdout for each in scripts
        ]
    assert said == [b"204", b'{"server":"clock","tools":1,"unreadable":0}']


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        (LITELLM, {"texts": ["a"]}, "input_type"),
        (LITELLM, {"input_type": "sideways"}, "input_type"),
        (LITELLM, {"input_type": "request", "texts": [1]}, "texts[0]"),
        ("/v1/guardrails/agentgateway/request", {"messages": []}, "body"),
        ("/v1/guardrails/agentgateway/request", {"body": {"choices": []}}, "body.messages"),
        ("/v1/guardrails/docker/before", {"name": "now"}, "Params"),
        ("/v1/guardrails/docker/before", {"Params": {"arguments": {}}}, "Params.name"),
        ("/v1/guardrails/docker/after", {"isError": False}, "content"),
        ("/v1/hooks/claude", {"session_id": "a"}, "hook_event_name"),
    ],
)
def test_a_body_of_something_else_is_refused_with_the_field(
    client: httpx2.Client, path: str, body: dict[str, Any], field: str
) -> None:
    reply = client.post(path, json=body)
    assert reply.status_code == 422, reply.text
    assert reply.json()["data"]["details"]["field"] == field
    assert field in reply.json()["error"]


def test_docker_reads_a_refusal_of_ours_as_a_result_that_failed(running: Running, client: httpx2.Client) -> None:
    """It takes any body for the result of the call: an envelope alone would be an empty one, and hide the refusal."""
    with running.client() as nobody:
        path = "/v1/guardrails/docker/before"
        for reply in (client.post(path, json={}), nobody.post(path)):
            assert reply.status_code in (401, 422)
            assert reply.json()["isError"] is True
            assert reply.json()["content"][0]["text"].startswith("toolvet: ")


def test_each_product_sends_its_key_as_it_can(running: Running) -> None:
    token = running.tokens["vera"]
    basic = base64.b64encode(f"toolvet:{token}".encode()).decode()
    fine: dict[str, Any] = {"input_type": "request", "texts": []}
    call = {"Params": {"name": "nobody_declared_it"}}
    with running.client() as nobody:
        ways: list[tuple[str, Any, dict[str, str], int]] = [
            (LITELLM, fine, {"x-api-key": token}, 200),
            (LITELLM, fine, {"authorization": f"Bearer {token}"}, 200),
            (LITELLM, fine, {"authorization": f"Basic {basic}"}, 401),
            ("/v1/guardrails/docker/before", call, {"authorization": f"Basic {basic}"}, 204),
            ("/v1/guardrails/docker/before", call, {"authorization": "Basic !"}, 401),
            ("/v1/guardrails/docker/before", call, {"x-api-key": token}, 401),
            # No other route takes them.
            ("/v1/check/answer", {"text": "a"}, {"x-api-key": token}, 401),
            ("/v1/check/answer", {"text": "a"}, {"authorization": f"Basic {basic}"}, 401),
        ]
        for path, body, headers, status in ways:
            assert nobody.post(path, json=body, headers=headers).status_code == status, (path, headers)


def test_only_docker_may_send_a_body_without_a_type(client: httpx2.Client) -> None:
    body = b'{"Params": {"name": "nobody_declared_it"}}'
    assert client.post("/v1/guardrails/docker/before", content=body).status_code == 204
    text = {"content-type": "text/plain"}
    assert client.post("/v1/guardrails/docker/before", content=body, headers=text).status_code == 415
    assert client.post("/v1/hooks/claude", content=b"{}").status_code == 415


def test_what_one_person_sent_is_not_held_against_another(running: Running) -> None:
    proof = guardrail_dialect("claude").hits[2]
    with running.client("vera") as vera, running.client("victor") as victor:
        for earlier in proof.earlier:
            vera.post(proof.path, content=earlier, headers=JSON)
        assert victor.post(proof.path, content=proof.given, headers=JSON).json() == {}
        assert vera.post(proof.path, content=proof.given, headers=JSON).json()["decision"] == "block"


def test_no_file_that_a_hook_names_is_read(running: Running, tmp_path: Path) -> None:
    prompt = {"type": "user", "message": {"role": "user", "content": "Set the day."}}
    edit = {"type": "tool_use", "id": "a", "name": "Write", "input": {"file_path": "a.py", "content": ""}}
    call = {"type": "assistant", "message": {"role": "assistant", "content": [edit]}}
    (tmp_path / "t.jsonl").write_text(f"{json.dumps(prompt)}\n{json.dumps(call)}\n")
    event = {
        "session_id": "never-seen",
        "hook_event_name": "Stop",
        "transcript_path": f"{tmp_path}/t.jsonl",
        "last_assistant_message": "All tests pass.",
    }
    with running.client("vera") as vera:
        assert vera.post("/v1/hooks/claude", json=event).json() == {}


def test_the_fifty_bad_calls_of_the_adapters_are_refused_in_all_products(client: httpx2.Client) -> None:
    client.put("/v1/guardrails/tools", json={"server": "books", "tools": [TOOL]})
    before, hook = "/v1/guardrails/docker/before", "/v1/hooks/claude"
    for number, (arguments, is_fine) in enumerate([*[(bad, False) for bad in BAD], (GOOD, True)]):
        event = {"session_id": "s", "hook_event_name": "PreToolUse", "tool_name": "mcp__books__order_book"}
        call = {"id": "c", "type": "function", "function": {"name": "order_book", "arguments": json.dumps(arguments)}}
        offered = {
            "input_type": "request",
            "litellm_call_id": f"{number}",
            "tools": [OFFERED],
            "structured_messages": [],
        }
        client.post(LITELLM, json=offered)
        asked_for = {"input_type": "response", "litellm_call_id": f"{number}", "tool_calls": [call]}
        by_product = [
            client.post(LITELLM, json=asked_for).json() == {"action": "NONE"},
            client.post(before, json={"Params": {"name": "order_book", "arguments": arguments}}).status_code == 204,
            client.post(hook, json={**event, "tool_input": arguments}).json() == {},
        ]
        assert by_product == [is_fine] * 3, arguments


def test_declared_tools_are_listed_and_taken_back(client: httpx2.Client) -> None:
    tools = [CLOCK, {"nonsense": 1}]
    found = client.put("/v1/guardrails/tools", json={"server": "clocks", "tools": tools}).json()
    assert found == {"server": "clocks", "tools": 1, "unreadable": 1}
    assert client.get("/v1/guardrails/tools").json()["servers"]["clocks"] == ["now"]
    client.put("/v1/guardrails/tools", json={"server": "clocks", "tools": []})
    assert "clocks" not in client.get("/v1/guardrails/tools").json()["servers"]


def test_a_tool_that_two_servers_declare_otherwise_is_in_doubt() -> None:
    memory = GuardrailMemory()
    memory.declare("one", [CLOCK])
    assert memory.definition("now") == CLOCK
    memory.declare("two", [{**CLOCK, "inputSchema": {"type": "object"}}])
    assert memory.definition("now") is None
    assert memory.definition("now", "one") == CLOCK


@pytest.mark.parametrize(("server", "tool"), [("my.clock", "mcp__my_clock__now"), ("a__b", "mcp__a__b__now")])
def test_a_server_is_known_by_the_name_that_claude_code_makes_of_it(
    client: httpx2.Client, server: str, tool: str
) -> None:
    client.put("/v1/guardrails/tools", json={"server": server, "tools": [CLOCK]})
    event = {"session_id": "a", "hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": {}}
    assert "days" in client.post("/v1/hooks/claude", json=event).text


def test_an_admin_also_gets_the_lists_that_the_hook_asked_for(tmp_path: Path) -> None:
    server = Path(__file__).parents[2] / "agents" / "hook" / "clock_server.py"
    entry = {"command": sys.executable, "args": [str(server), f"{tmp_path}/called"]}
    (tmp_path / ".mcp.json").write_text(json.dumps({"mcpServers": {"clock": entry}}))
    called = HookEvent("before", "PreToolUse", tool="mcp__clock__now", folder=str(tmp_path))
    event = {
        "session_id": "a",
        "hook_event_name": "PreToolUse",
        "cwd": str(tmp_path),
        "tool_name": "mcp__clock__now",
        "tool_input": {},
    }
    people = [("ada", "admin"), ("vera", "viewer")]
    with serving(f"{tmp_path}/a.db", people=people) as own, own.client("ada") as ada, own.client("vera") as vera:
        assert ada.post("/v1/hooks/claude", json=event).json() == {}
        assert not (tmp_path / "called").exists(), "the server was started"
        # As `toolvet hook` does.
        found = server_of("claude", dialect_of("claude"), called)
        assert found is not None
        assert definition_of(found[0], found[1], wait=20, may_ask=True)[0] is not None
        assert "zone" in ada.post("/v1/hooks/claude", json=event).text
        assert vera.post("/v1/hooks/claude", json=event).json() == {}


def test_what_is_kept_has_a_bound_and_the_oldest_goes() -> None:
    memory: BoundedMemory[str, str] = BoundedMemory(10_000)
    for number in range(100):
        memory.put(f"{number}", "x", 1_000)
        assert memory.size <= 10_000
    assert memory.get("99") == "x"
    assert memory.get("0") is None
    memory.put("99", "too large", 10_000)
    assert memory.get("99") is None
    for number in range(100):
        memory.take(f"{number}")
    assert (memory.size, memory.items()) == (0, [])


def test_a_session_that_grows_too_long_is_forgotten_and_nothing_is_said_of_it() -> None:
    memory = GuardrailMemory()
    memory.says(("vera", "s"), "Set the day.")
    memory.calls(("vera", "s"), "Write", {"file_path": "a.py"}, "ok", failed=False)
    found = memory.session(("vera", "s"))
    assert found is not None
    assert [call.name for call in found.calls] == ["Write"]
    for _ in range(60):
        memory.calls(("vera", "s"), "Read", {}, "x" * 90_000, failed=False)
    assert memory.session(("vera", "s")) is None


def test_the_policies_of_the_settings_hold(tmp_path: Path) -> None:
    event = {
        "session_id": "a",
        "hook_event_name": "PreToolUse",
        "tool_name": "mcp__clock__now",
        "tool_input": {"days": "2"},
    }
    call = {"Params": {"name": "now", "arguments": {"days": "2"}}}
    settings = Settings(ProxySettings(repair="apply"))
    with serving(f"{tmp_path}/a.db", settings=settings) as own, own.client() as client:
        client.put("/v1/guardrails/tools", json={"server": "clock", "tools": [CLOCK]})
        found = client.post("/v1/hooks/claude", json=event).json()
        assert found["hookSpecificOutput"]["updatedInput"] == {"days": 2}
        # An interceptor cannot change a call: what would be right is offered.
        assert client.post("/v1/guardrails/docker/before", json=call).json()["isError"] is True
