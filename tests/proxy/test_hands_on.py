"""An answer that no policy may change reaches the client before it is judged."""

import json
from collections.abc import Sequence
from typing import Any

import pytest
from tests.proxy.notes import ORIGIN, TOOL, text

from toolvet.core.checks.result import ResultCheck
from toolvet.proxy.record.recorder import Recorder
from toolvet.proxy.session import Policies, ProxySettings, Session
from toolvet.proxy.stdio.relay import Relay


class Pipe:
    def __init__(self) -> None:
        self.data = b""

    def write(self, buffers: Sequence[bytes]) -> None:
        self.data += b"".join(buffers)


class World:
    """A relay with a check that notes whether the client had the answer by then."""

    def __init__(self, settings: ProxySettings, *, listed: bool = True) -> None:
        self.client, self.server = Pipe(), Pipe()
        self.had: list[bool] = []
        world = self

        class Check(ResultCheck):
            def __call__(self, *given: Any, **more: Any) -> Any:
                world.had.append(b"Emma" in world.client.data)
                return super().__call__(*given, **more)

        self.relay = Relay(
            Session(Policies(settings, check=Check())),
            Recorder(),
            ORIGIN,
            to_server=self.server,
            to_client=self.client,
            on_time=lambda _: None,
            limit=1 << 20,
        )
        if listed:
            self.ask(0, "tools/list")
            self.answer(0, {"tools": [TOOL]})

    def ask(self, id_: object, method: str, **params: Any) -> None:
        message = {"jsonrpc": "2.0", "id": id_, "method": method, "params": params}
        self.relay.from_client(json.dumps(message).encode() + b"\n")

    def call(self, id_: object) -> None:
        self.ask(id_, "tools/call", name="find_book", arguments={"title": "x"})

    def answer(self, id_: object, result: Any) -> None:
        self.relay.from_server(json.dumps({"jsonrpc": "2.0", "id": id_, "result": result}).encode() + b"\n")


@pytest.mark.parametrize(
    ("settings", "before"),
    [
        (ProxySettings(), True),
        (ProxySettings(results="enforce"), False),
        (ProxySettings(output_schema="enforce"), False),
        (ProxySettings(verdict="always"), False),
    ],
)
def test_the_client_has_an_answer_before_its_verdict_where_that_cannot_change_it(
    settings: ProxySettings, *, before: bool
) -> None:
    world = World(settings)
    for number in range(1, 4):
        world.call(number)
        world.client.data = b""
        world.answer(number, text("Emma"))
        # Once, whole, and only once.
        assert world.client.data.count(b"\n") == world.client.data.count(b"Emma") == 1
        assert not world.relay.open
    assert world.had == [before] * 3


def test_an_answer_to_a_question_of_the_proxy_is_not_handed_on_however_its_id_is_spelled() -> None:
    world = World(ProxySettings(), listed=False)
    world.call(1)
    (question,) = (json.loads(line) for line in world.server.data.splitlines())
    assert question["method"] == "tools/list"
    world.answer(question["id"], {"tools": [TOOL]})
    escaped = "".join(f"\\u{ord(letter):04x}" for letter in question["id"])
    world.relay.from_server(f'{{"jsonrpc":"2.0","result":{{"tools":[]}},"id":"{escaped}"}}\n'.encode())
    assert world.client.data == b""
    world.answer(1, text("Emma"))
    assert world.had == [True]


def test_where_many_answers_are_open_they_are_judged_first() -> None:
    world = World(ProxySettings())
    for number in range(1, 18):
        world.call(number)
    world.answer(1, text("Emma"))
    world.answer(2, text("Emma"))
    assert world.had == [False, True]
