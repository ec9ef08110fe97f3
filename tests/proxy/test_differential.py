"""A conversation with a hostile but legal server, directly and through the proxy: the same, but for decisions."""

import json
import os
import selectors
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.proxy.hostile_legal_server import PAGES, QUESTIONS, Hostile
from tests.proxy.stdio_client import HERE, PROXY, Client

SERVER = (sys.executable, str(HERE / "hostile_legal_server.py"))
SILENT = {"announce": "off"}
OFF = {"arguments": "off", "results": "off", "output_schema": "off", "break_after": 0, "announce": "off"}
MODERN = (
    b'"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}'
)
PATIENCE = 60

# The messages a client sends before it waits for every answer.
Turn = tuple[bytes, ...]


def call(id_: bytes, tool: bytes, arguments: bytes = b"{}", more: bytes = b"") -> bytes:
    return (
        b'{"params":{"arguments":%s,"name":"%s"%s,"future":[]},"x":{},"method":"tools\\/call","id":%s,"jsonrpc":"2.0"}'
        % (arguments, tool, more, id_)
    )


def lists() -> list[Turn]:
    """All pages."""
    asked = [b"{}" if cursor is None else b'{"cursor":%s}' % json.dumps(cursor).encode() for cursor, _ in PAGES]
    return [
        (b'{"id":"page %d","params":%s,"jsonrpc":"2.0","method":"tools/list"}' % (number, params),)
        for number, params in enumerate(asked)
    ]


OPENING: list[Turn] = [
    (b'{"jsonrpc":"2.0","id":0,"method":"server/discover","params":{' + MODERN + b"}}",),
    (b'{"method":"initialize","id":"\\u0000","params":{"x":1e400,"capabilities":{}},"jsonrpc":"2.0","x":[]}',),
    (b' { "jsonrpc":"2.0" , "method":"notifications/initialized" } \r',),
]
# Every call is valid, so there is nothing to decide.
LEGAL: list[Turn] = [
    (call(b"1", b"echo", b'{ "text" : "\\u0061\\ud83d\\ude00" , "text":"b","more":1e200,"n":123456789012345678901}'),),
    # The same id in two spellings is one id; a number and its digits are two.
    (call(b'"\\u0031"', b"null"), call(b"1", b"array"), call(b"-0", b"count", b'{"n":1.0}')),
    (call(b"9007199254740993", b"count", b'{"n":123456789012345678901234567890}'), call(b"-1", b"liar")),
    (call(b"123456789012345678901234567890", b"fails"),),
    (call(b'"' + b"\\ud83d\\ude00" * 200 + b'"', b"mutters"), call(b'""', b"strange")),
    tuple(call(b"%d" % at, name) for at, name in enumerate((b"broken", b"remote", b"circle", b"regex", b"ancient"))),
    (call(b"5", b"true"), call(b"6", b"bare", b"{}"), call(b"7", b"bare", b'{"a":' + b"[" * 100 + b"]" * 100 + b"}")),
    (call(b"8", b"\\u00fcber\\/t\xc3\xb6\xc3\xb6l \\ud83d\\ude00", b'{"":null}'), call(b"9", b"no such tool")),
    (call(b"10", b"large"),),
    (call(b"11", b"deep"), call(b"12", b"deeper"), call(b"13", b"refuses")),
    (call(b"14", b"echo", b'{"text":"' + b"x" * (5 * 2**20) + b'"}'),),
    (call(b"15", b"progress", b"{}", b',"_meta":{"progressToken":1.5}'), call(b"16", b"progress")),
    # The server asks back under the ids of the call, and gets answers of every kind.
    (call(b"17", b"asks"),),
    *[(b'{"jsonrpc":"2.0","id":17,"result":{"content":[%d],"tools":[]}}' % at,) for at in range(len(QUESTIONS) - 1)],
    (b'{"error":{"code":-1,"message":"no","data":1e400},"id":17,"jsonrpc":"2.0"}',),
    # Cancelled, but still answered; the id is used again.
    (call(b"18", b"waits"), call(b"19", b"null")),
    (b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":18,"reason":{}}}',),
    (call(b"18", b"null"),),
    # Two answers under one id, which cannot be distinguished.
    (call(b"20", b"null"), call(b"20", b"fails"), call(b"20", b"null")),
    (b'{"jsonrpc":"2.0","id":21,"method":"x-vendor/echo","params":{"a":[1,{"b":null}]}}',),
    (
        b'{"jsonrpc":"2.0","id":22,"method":"no/such/method"}',
        b'{"jsonrpc":"2.0","id":"p","method":"ping","params":null}',
    ),
    (b'{"jsonrpc":"2.0","method":"notifications/odd","params":[1e400]}', b'{"method":"x","jsonrpc":"2.0"}'),
    (b'[{"jsonrpc":"2.0","id":23,"method":"ping"} , {"jsonrpc":"2.0","method":"x"},' + call(b"24", b"null") + b" ]",),
    # The modern era.
    (call(b"25", b"inputs", b'{"city":"?"}', b"," + MODERN), call(b"26", b"task", b"{}", b"," + MODERN)),
    (call(b"27", b"inputs", b'{"city":"?"}', b',"inputResponses":{"k":{}},"requestState":"\\u0000opaque/",' + MODERN),),
    (call(b"28", b"later", b"{}", b"," + MODERN), call(b"29", b"count", b'{"n":2}', b"," + MODERN)),
    (b'{"jsonrpc":"2.0","id":30,"method":"subscriptions/listen","params":{' + MODERN + b"}}",),
    (b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":30}}',),
    (call(b"33", b"changes"),),
    *lists(),
    (call(b"34", b"echo", b'{"text":""}'),),
]


class Conversation:
    """What each side got: the client by turn, the server line by line."""

    def __init__(self) -> None:
        self.to_client: list[list[bytes]] = []
        self.to_server: list[bytes] = []
        # The proxy's own requests.
        self.questions: list[bytes] = []


def expected(turns: list[Turn]) -> Conversation:
    """By the server's own account."""
    server, found = Hostile(), Conversation()
    for turn in turns:
        found.to_server += turn
        found.to_client.append([answer for line in turn for answer in server.hears(line)])
    return found


def held(command: tuple[str, ...], turns: list[Turn], counts: list[int], folder: Path, **env: str) -> Conversation:
    """With real processes; output after the last expected line goes into one turn more."""
    heard = folder / f"heard-{len(list(folder.iterdir()))}"
    client = Client(*command, HEARD=str(heard), **env)
    found = Conversation()
    try:
        lines = Lines(client)
        for turn, count in zip(turns, counts, strict=True):
            for line in turn:
                client.write(line + b"\n")
            found.to_client.append([lines.next() for _ in range(count)])
        client.stdin.close()
        found.to_client.append(lines.rest())
        assert client.process.wait() == 0
    finally:
        client.close()
    lines_heard = heard.read_bytes().removesuffix(b"\n").split(b"\n")
    found.to_server = [line for line in lines_heard if not is_question(line)]
    found.questions = [line for line in lines_heard if is_question(line)]
    return found


def is_question(line: bytes) -> bool:
    """Whether the proxy asks this by itself."""
    return line.startswith(b'{"jsonrpc":"2.0","id":"toolvet:')


class Lines:
    """Of a pipe, with patience: a line that does not come is a failed test, which shows what had come."""

    def __init__(self, client: Client) -> None:
        self._fd = client.stdout.fileno()
        self._lines: list[bytes] = []
        self._parts: list[bytes] = []
        self._last = b"nothing"
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._fd, selectors.EVENT_READ)

    def next(self) -> bytes:
        while not self._lines:
            assert self._read(), f"the end, after {self._last[:500]!r}"
        self._last = self._lines.pop(0)
        return self._last

    def rest(self) -> list[bytes]:
        while self._read():
            pass
        return [*self._lines, *([b"".join(self._parts)] if b"".join(self._parts) else [])]

    def _read(self) -> bool:
        assert self._selector.select(PATIENCE), f"silence, after {self._last[:500]!r}"
        data = os.read(self._fd, 2**20)
        first, *others = data.split(b"\n")
        self._parts.append(first)
        for part in others:
            self._lines.append(b"".join(self._parts))
            self._parts = [part]
        return bool(data)


def short(lines: list[bytes]) -> list[bytes]:
    return [line if len(line) < 2000 else line[:500] + b" ... " + line[-500:] for line in lines]


def assert_same(found: Conversation, wanted: Conversation, turns: list[Turn]) -> None:
    assert short(found.to_server) == short(wanted.to_server)
    for turn, got, want in zip(turns, found.to_client, wanted.to_client, strict=False):
        assert (short(list(turn)), short(got)) == (short(list(turn)), short(want))
    assert found.to_client[len(turns) :] == [[]]
    assert found.to_server == wanted.to_server
    assert found.to_client[: len(turns)] == wanted.to_client


@pytest.fixture(scope="module")
def spoken() -> tuple[list[Turn], Conversation]:
    turns = [*OPENING, *lists(), *LEGAL]
    return turns, expected(turns)


@pytest.mark.parametrize(
    ("command", "settings", "questions"),
    # The list is read once more for the tool that it does not have.
    [(SERVER, {}, 0), ((*PROXY, *SERVER), OFF, 0), ((*PROXY, *SERVER), SILENT, len(PAGES))],
    ids=["directly", "all policies off", "default policies"],
)
def test_a_legal_conversation_is_the_same_byte_for_byte_in_both_directions(
    command: tuple[str, ...],
    settings: dict[str, object],
    questions: int,
    spoken: tuple[list[Turn], Conversation],
    tmp_path: Path,
) -> None:
    turns, wanted = spoken
    counts = [len(lines) for lines in wanted.to_client]
    found = held(command, turns, counts, tmp_path, SETTINGS=json.dumps(settings))
    assert_same(found, wanted, turns)
    assert len(found.questions) == questions


VERDICT = b',"_meta":{"dev.toolvet/verdict":true}'
# A call, the settings, what the server gets of it, and where the client gets something else than from the server.
DECIDED: list[tuple[str, dict[str, object], bytes, dict[str, object] | None, set[str]]] = [
    (
        "bad arguments",
        {},
        call(b"1", b"echo", b'{"text":1e4}'),
        None,
        {"result/isError", "result/content", "result/future", "result/_meta"},
    ),
    ("a repair", {"repair": "apply"}, call(b"1", b"count", b'{"n":"12"}'), {"n": 12}, {"result/_meta"}),
    ("a verdict", {}, call(b"1", b"array", b"{}", VERDICT), {}, {"result/_meta"}),
    (
        "a verdict beside other notes",
        {},
        call(b"1", b"strange", b"{}", VERDICT),
        {},
        {"result/_meta/dev.toolvet/verdict", "result/_meta/dev.toolvet/trace"},
    ),
    (
        "an error without its flag",
        {"results": "enforce"},
        call(b"1", b"mutters"),
        {},
        {"result/isError", "result/_meta"},
    ),
    (
        "a broken promise",
        {"output_schema": "enforce"},
        call(b"1", b"liar"),
        {},
        {"result/isError", "result/content", "result/structuredContent", "result/_meta"},
    ),
    (
        "too large a result",
        {"results": "enforce", "max_result_bytes": 2**20},
        call(b"1", b"large"),
        {},
        {"result/isError", "result/content", "result/_meta"},
    ),
]


@pytest.mark.parametrize(
    ("chosen", "line", "arguments", "places"), [each[1:] for each in DECIDED], ids=[each[0] for each in DECIDED]
)
def test_a_decision_changes_what_it_is_about_and_nothing_else(
    chosen: dict[str, object], line: bytes, arguments: object, places: set[str], tmp_path: Path
) -> None:
    turns = [*lists(), (line,)]
    wanted = expected(turns)
    found = held((*PROXY, *SERVER), turns, [1] * len(turns), tmp_path, SETTINGS=json.dumps({**SILENT, **chosen}))
    assert found.to_client[:-2] == wanted.to_client[:-1]
    assert set(changes(json.loads(wanted.to_client[-1][0]), json.loads(found.to_client[-2][0]))) == places
    assert found.to_client[-1] == []
    if arguments is None:
        assert found.to_server == wanted.to_server[:-1]
    else:
        sent = json.loads(found.to_server[-1])
        assert sent == {**json.loads(line), "params": {**json.loads(line)["params"], "arguments": arguments}}
        assert found.to_server[:-1] == wanted.to_server[:-1]


def test_the_capability_is_added_to_both_openings_and_all_else_stays(tmp_path: Path) -> None:
    turns = [*OPENING, *lists()]
    wanted = expected(turns)
    counts = [len(lines) for lines in wanted.to_client]
    found = held((*PROXY, *SERVER), turns, counts, tmp_path)
    home = "result/capabilities"
    ours = {f"{home}/experimental/toolValidation"}
    for turn, places in ((0, {*ours, f"{home}/extensions"}), (1, ours)):
        opened, changed = json.loads(wanted.to_client[turn][0]), json.loads(found.to_client[turn][0])
        assert set(changes(opened, changed)) == places
    assert found.to_client[1][1] == wanted.to_client[1][1]
    assert found.to_client[2:-1] == wanted.to_client[2:]
    assert found.to_server == wanted.to_server


def test_our_tool_stands_at_the_end_of_the_last_page_and_all_else_stays(tmp_path: Path) -> None:
    turns = [*OPENING, *lists()]
    wanted = expected(turns)
    counts = [len(lines) for lines in wanted.to_client]
    found = held((*PROXY, *SERVER), turns, counts, tmp_path, SETTINGS='{"announce":"tool"}')
    assert found.to_client[2:-2] == wanted.to_client[2:-1]
    last, longer = json.loads(wanted.to_client[-1][0]), json.loads(found.to_client[-2][0])
    assert longer["result"]["tools"][:-1] == last["result"]["tools"]
    assert longer["result"]["tools"][-1]["name"] == "validate"
    assert list(changes(last, longer)) == ["result/tools"]


def test_a_call_before_any_list_makes_us_read_all_pages_and_nobody_else_sees_them(tmp_path: Path) -> None:
    turns: list[Turn] = [(call(b"1", b"echo", b'{"text":1}'), call(b'"page 1"', b"echo", b'{"text":""}')), *lists()]
    wanted = expected(turns)
    found = held((*PROXY, *SERVER), turns, [2, 1, 1, 1, 1], tmp_path, SETTINGS=json.dumps(SILENT))
    assert json.loads(found.to_client[0][0])["result"]["isError"] is True
    assert found.to_client[0][1] == wanted.to_client[0][1]
    assert found.to_client[1:] == [*wanted.to_client[1:], []]
    assert found.to_server == wanted.to_server[1:]
    cursors = [json.loads(question).get("params", {}).get("cursor") for question in found.questions]
    assert cursors == [cursor for cursor, _ in PAGES]


def test_a_request_that_is_open_when_the_server_ends_is_answered_by_us(tmp_path: Path) -> None:
    turns: list[Turn] = [(call(b'"never"', b"waits"),)]
    found = held((*PROXY, *SERVER), turns, [0], tmp_path, SETTINGS=json.dumps(OFF))
    assert [json.loads(line)["id"] for line in found.to_client[-1]] == ["never"]
    assert found.to_server == list(turns[0])


def changes(one: object, other: object, at: str = "") -> Iterator[str]:
    """The places where two JSON values differ, each as high up as there is nothing to compare below it."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in dict.fromkeys([*one, *other]):
            if key not in one or key not in other:
                yield f"{at}/{key}".lstrip("/")
            else:
                yield from changes(one[key], other[key], f"{at}/{key}".lstrip("/"))
    elif one != other:
        yield at
