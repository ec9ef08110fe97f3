"""`toolvet record` and `toolvet mock`: a record of a real server answers real clients, without the server."""

import asyncio
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp.client.stdio import StdioServerParameters, stdio_client
from tests.assess.replay.recording import LIBRARY, SECRET, Mode
from tests.proxy.stdio_client import Client

import mcp
from toolvet.cli import run
from toolvet.core.contract import lock_of, write_lock

TOOLVET = (sys.executable, "-m", "toolvet")
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
CALLS: list[tuple[str, dict[str, Any]]] = [
    ("get_news", {"topic": "books"}),
    ("list_random", {}),
    ("list_random", {}),
    ("count_output", {"shelf": "a"}),
    ("get_hidden_failure", {"id": 99}),
    ("get_secret", {"api_key": SECRET}),
    ("list_enum", {"order": "title"}),
    ("list_enum", {"order": "wrong"}),
]


def conversation(mode: Mode, *words: str, calls: list[tuple[str, dict[str, Any]]]) -> tuple[list[str], list[Any]]:
    """The names of the tools, and the answers to these calls, by the official client."""

    async def converse() -> tuple[list[str], list[Any]]:
        server = StdioServerParameters(command=TOOLVET[0], args=[*TOOLVET[1:], *words])
        async with mcp.Client(stdio_client(server), mode=mode) as client:
            names = [tool.name for tool in (await client.list_tools()).tools]
            answers = [await client.call_tool(name, arguments) for name, arguments in calls]
            return names, [
                answer.model_dump(include={"content", "structured_content", "is_error"}) for answer in answers
            ]

    return asyncio.run(converse())


@pytest.fixture(scope="module", params=["legacy", "auto"], ids=["legacy", "modern"])
def recorded(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Any]:
    """A record of each era, with what the server answered."""
    path = str(tmp_path_factory.mktemp("record") / "record.db")
    mode: Mode = request.param
    return path, conversation(mode, "record", "--out", path, "--", *LIBRARY, "old", calls=CALLS)


@pytest.fixture(scope="module")
def lines(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A record as lines of JSON, of `toolvet proxy`, and without definitions beside it."""
    path = str(tmp_path_factory.mktemp("lines") / "record.jsonl")
    words = ("proxy", "--arguments", "off", "--record", "calls", "--store", path, "--", *LIBRARY, "old")
    conversation("legacy", *words, calls=CALLS)
    return path


@contextmanager
def mock(*words: str) -> Iterator[Client]:
    client = Client(*TOOLVET, "mock", *words)
    try:
        yield client
        assert client.end() == 0
    finally:
        client.close()


def called(client: Client, name: str, **arguments: object) -> Any:
    return client.ask("tools/call", name=name, arguments=arguments)


def text_of(answer: Any) -> str:
    text: str = answer["result"]["content"][0]["text"]
    return text


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_a_client_of_either_era_gets_what_the_server_answered(recorded: tuple[str, Any], mode: Mode) -> None:
    path, (names, answers) = recorded
    shown = json.loads(json.dumps(answers).replace(SECRET, "[redacted]"))
    assert conversation(mode, "mock", path, calls=CALLS) == (sorted(names), shown)
    # The two results of `list_random` differ, and came in their order.
    assert answers[1] != answers[2]


def test_the_last_result_of_a_call_repeats(recorded: tuple[str, Any]) -> None:
    path, (_, answers) = recorded
    _, mocked = conversation("auto", "mock", path, calls=[("list_random", {})] * 4)
    assert mocked == [answers[1], answers[2], answers[2], answers[2]]


def test_secrets_stay_masked_and_any_value_in_their_place_is_the_recorded_call(recorded: tuple[str, Any]) -> None:
    path, _ = recorded
    with mock(path) as client:
        assert text_of(called(client, "get_secret", api_key="another")) == "the key [redacted] opens the archive"
        assert "was not recorded" in text_of(called(client, "get_news", topic="another"))
    files = [*Path(path).parent.iterdir()]
    assert len(files) >= 2
    assert not [file for file in files if SECRET.encode() in file.read_bytes()]


def test_both_eras_open_and_each_request_is_answered_in_its_own(recorded: tuple[str, Any]) -> None:
    path, _ = recorded
    with mock(path) as client:
        opened = client.ask("server/discover", _meta=META)["result"]
        assert opened["supportedVersions"] == ["2026-07-28"]
        modern = client.ask("tools/call", name="get_news", arguments={"topic": "books"}, _meta=META)["result"]
        assert modern["resultType"] == "complete"
        assert client.ask("tools/list", _meta=META)["result"]["ttlMs"] == 0
        assert client.ask("initialize", protocolVersion="2025-06-18")["result"]["protocolVersion"] == "2025-06-18"
        client.send("notifications/initialized")
        legacy = called(client, "get_news", topic="books")["result"]
        assert "resultType" not in legacy
        assert legacy["content"] == modern["content"]
        assert "ttlMs" not in client.ask("tools/list")["result"]
        assert client.ask("initialize", protocolVersion="1999-01-01")["result"]["protocolVersion"] == "2025-11-25"
        assert client.ask("ping")["result"] == {}
        assert client.ask("prompts/list")["error"]["code"] == -32601
        client.write(b"\n{half\n")
        assert client.read()["error"]["code"] == -32700


def test_an_unseen_call_is_answered_from_the_output_schema(recorded: tuple[str, Any]) -> None:
    path, _ = recorded
    with mock(path) as client, mock(path) as other:
        found = called(client, "count_output", shelf="z")["result"]
        assert isinstance(found["structuredContent"]["count"], int)
        assert json.loads(found["content"][0]["text"]) == found["structuredContent"]
        assert found["_meta"] == {"dev.toolvet/mock": "example"}
        assert called(other, "count_output", shelf="y")["result"] == found
    with mock(path, "--unseen", "error") as client:
        refused = called(client, "count_output", shelf="z")
        assert refused["result"]["isError"] is True
        assert '--unseen error). Recorded arguments: {"shelf":"a"}' in text_of(refused)


def test_an_unseen_call_without_an_output_schema_is_an_error_with_the_recorded_calls(recorded: tuple[str, Any]) -> None:
    path, _ = recorded
    with mock(path) as client:
        refused = called(client, "list_enum", order="year")
        assert refused["result"]["isError"] is True
        assert 'outputSchema to make an answer from. Recorded arguments: {"order":"title"}; ' in text_of(refused)
        assert text_of(called(client, "add_book", title="Emma")).endswith("The record has no call of this tool.")
        # Its schema says what is wrong with this one.
        assert "'query'" in text_of(called(client, "find_renamed", words="emma"))
        unknown = called(client, "get_nothing")["error"]
        assert unknown["code"] == -32602
        assert "The tools are: add_book, " in unknown["message"]


def test_definitions_come_from_a_file_or_are_made_of_the_calls(lines: str, tmp_path: Path) -> None:
    schema = {"type": "object", "required": ["n"], "properties": {"n": {"const": 3}}}
    tools: list[dict[str, Any]] = [
        {"name": "get_news", "inputSchema": {"type": "object"}, "outputSchema": schema},
        {"name": "never", "inputSchema": {"type": "object"}},
    ]
    with mock(lines) as client:
        listed = client.ask("tools/list")["result"]["tools"]
        assert [tool["name"] for tool in listed] == list(dict.fromkeys(name for name, _ in CALLS))
        assert text_of(called(client, "get_news", topic="books")) == "Nothing happened today."
    answer = tmp_path / "answer.json"
    answer.write_text(json.dumps({"jsonrpc": "2.0", "id": 1, "result": {"tools": tools}}))
    lock = tmp_path / "toolvet.lock.json"
    lock.write_text(write_lock(lock_of(tools)))
    for file in (answer, lock):
        with mock(lines, "--tools", str(file)) as client:
            assert [tool["name"] for tool in client.ask("tools/list")["result"]["tools"]] == ["get_news", "never"]
            assert called(client, "get_news", topic="x")["result"]["structuredContent"] == {"n": 3}
            assert "result" in called(client, "list_random")


def test_a_recorded_protocol_error_is_answered_again_and_adds_no_tool(tmp_path: Path) -> None:
    path = tmp_path / "record.jsonl"
    call = {
        "type": "verdict", "id": "1", "at": 1.0, "kind": "call", "tool": "gone", "outcome": "protocol_error",
        "reason": "Unknown tool: gone", "document": {"code": -32602, "arguments": {"id": 1}},
    }  # fmt: skip
    path.write_text(json.dumps(call) + "\n")
    with mock(str(path)) as client:
        assert called(client, "gone", id=1)["error"] == {"code": -32602, "message": "Unknown tool: gone"}
        assert client.ask("tools/list")["result"]["tools"] == []


def test_faults_come_on_demand_and_only_for_their_tool(recorded: tuple[str, Any]) -> None:
    path, _ = recorded
    faults = ("outage:get_news", "malformed:list_random", "error:count_output", "latency=1:list_enum")
    with mock(path, *(f"--fault={fault}" for fault in faults)) as client:
        client.call(1, "list_enum", order="title")
        client.call(2, "get_news", topic="books")
        client.call(3, "list_random")
        broken = client.stdout.readline()
        assert broken.startswith(b'{"jsonrpc":"2.0","id":3,"result":')
        with pytest.raises(json.JSONDecodeError):
            json.loads(broken)
        failed = client.ask("tools/call", 4, name="count_output", arguments={"shelf": "a"})
        assert failed["result"]["isError"] is True
        assert "503" in text_of(failed)
        assert "redacted" in text_of(client.ask("tools/call", 5, name="get_secret", arguments={"api_key": "x"}))
        # The slow call is answered after the others, also when the client has ended; the one in an outage never is.
        client.stdin.close()
        assert client.read()["id"] == 1
        assert client.stdout.read() == b""


def test_a_fault_without_a_tool_is_for_all(recorded: tuple[str, Any]) -> None:
    path, _ = recorded
    with mock(path, "--fault", "error") as client:
        for name in ("get_news", "list_random"):
            assert called(client, name)["result"]["isError"] is True


def test_mistakes_on_the_command_line_say_what_to_write(
    recorded: tuple[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, _ = recorded
    wrong = tmp_path / "wrong.json"
    wrong.write_text("[]")
    for words, message in (
        (["--fault", "latency"], "--fault latency: write latency=SECONDS"),
        (["--fault", "latency=nan"], "write latency=SECONDS"),
        (["--fault", "outage=2"], "write latency=SECONDS"),
        (["--fault", "outage:get_new"], "there is no such tool; the tools are: add_book, "),
        (["--tools", str(wrong)], 'wrong.json: it has no list "tools"'),
        (["--tools", str(tmp_path / "none.json")], "No such file"),
    ):
        assert run(["mock", path, *words]) == 2
        assert message in capsys.readouterr().err
    assert run(["record"]) == 2
    assert "which server?" in capsys.readouterr().err
    assert run(["record", "--", "http://127.0.0.1:1/mcp"]) == 2
    assert "toolvet proxy --record calls" in capsys.readouterr().err


def test_a_record_keeps_what_the_server_answers_to_a_bad_call(recorded: tuple[str, Any]) -> None:
    path, (_, answers) = recorded
    assert "toolvet" not in json.dumps(answers[-1])
    _, mocked = conversation("auto", "mock", path, calls=[CALLS[-1]])
    assert mocked == [answers[-1]]


def test_a_recorded_server_has_the_variables_and_the_folder_that_it_has_without_toolvet(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    # It starts only with both: also when its definitions are read.
    needs = "import os; os.environ['OURS'], os.environ['GIVEN'], open('here')"
    start = f"{needs}; os.execv({LIBRARY[0]!r}, {[*LIBRARY, 'old']!r})"
    (tmp_path / "work" / "here").touch()
    words = ("--env=GIVEN=1", "--cwd", str(tmp_path / "work"), "--", sys.executable, "-c", start)
    client = Client(*TOOLVET, "record", "--out", str(tmp_path / "record.db"), *words, OURS="1")
    try:
        client.ask(
            "initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo={"name": "t", "version": "1"}
        )
        client.send("notifications/initialized")
        assert text_of(called(client, "get_news", topic="books")) == "Nothing happened today."
        client.end()
    finally:
        client.close()
    with mock(str(tmp_path / "record.db")) as mocked:
        assert "find_renamed" in [tool["name"] for tool in mocked.ask("tools/list")["result"]["tools"]]
        assert text_of(called(mocked, "get_news", topic="books")) == "Nothing happened today."
