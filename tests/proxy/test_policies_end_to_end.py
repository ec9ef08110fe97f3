"""Any policies, any calls, in any order of delivery: what changed is what the record says, and nothing else did."""

import json
from collections import Counter
from typing import Any, get_args

from hypothesis import given, strategies as st
from tests.examples import examples
from tests.proxy.hostile_legal_server import PAGES, TOOLS, Hostile

from toolvet.proxy.session import (
    CallEnded,
    Note,
    Policies,
    ProxySettings,
    Session,
    Step,
    ToClient,
    ToolSettings,
    ToServer,
)

Place = tuple[str, ...]
# The parts a change may touch, by the word that the record has for it.
PLACES: dict[str, Place] = {
    "verdict": ("result", "_meta", "dev.toolvet/verdict"),
    "repair": ("result", "_meta", "dev.toolvet/repair"),
    "trace": ("result", "_meta", "dev.toolvet/trace"),
    "is_error": ("result", "isError"),
    "content": ("result", "content"),
    "structured_content": ("result", "structuredContent"),
}
ARGUMENTS = ("params", "arguments")
META = ("result", "_meta")
ABSENT = object()

judged = st.sampled_from(["echo", "count", "inputs", "liar", "fails", "mutters", "strange", "refuses"])
other = st.sampled_from([name for name in TOOLS if name not in {"asks", "waits", "large", "deeper"}] + ["no such tool"])
names = st.integers(0, 2).flatmap(lambda number: judged if number else other)
arguments = st.sampled_from(
    [
        b"{}",
        b'{"text":"a"}',
        b'{"text":7}',
        b'{"Text":"a"}',
        b'{"n":"12"}',
        b'{"n":1}',
        b'{"n":{"n":[[[[1]]]]}}',
        b'{"city":"\\ud83d\\ude00","text":"","n":0}',
        b'{"text":"' + b"x" * 3000 + b'","n":1}',
        b"[]",
        b'"text"',
    ]
)
metas = st.sampled_from(
    [
        b"",
        b',"_meta":{"dev.toolvet/verdict":true,"progressToken":1}',
        b',"_meta":{"dev.toolvet/verdict":{},"io.modelcontextprotocol/protocolVersion":"2026-07-28"}',
        b',"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}',
        b',"task":{"ttl":1}',
    ]
)
calls = st.builds(
    lambda name, given, meta: (
        b'"method":"tools/call","params":{ "name":%s,"arguments":%s%s }' % (json.dumps(name).encode(), given, meta)
    ),
    names,
    arguments,
    metas,
)
others = st.one_of(
    st.sampled_from([b"{}", *(json.dumps({"cursor": cursor}).encode() for cursor, _ in PAGES[1:])]).map(
        lambda params: b'"method":"tools/list","params":' + params
    ),
    st.just(b'"method":"x-vendor/echo","params":{"a":1.0}'),
    st.just(b'"method":"no/such/method"'),
)
# Not `one_of`, which gives every branch of a branch the same weight.
requests = st.integers(0, 9).flatmap(lambda number: calls if number else others)


LISTS = [
    b'{"jsonrpc":"2.0","id":%d,"method":"tools/list","params":%s}'
    % (number, json.dumps({} if cursor is None else {"cursor": cursor}).encode())
    for number, (cursor, _) in enumerate(PAGES)
]


def choices(field: str) -> st.SearchStrategy[Any]:
    """A value of the settings file, or none."""
    found = get_args(ToolSettings.__annotations__[field])
    return st.sampled_from([*get_args(found[0]), None])


SOME = {
    "arguments": choices("arguments"),
    "repair": choices("repair"),
    "repair_from": choices("repair_from"),
    "results": choices("results"),
    "output_schema": choices("output_schema"),
    "verdict": choices("verdict"),
    "record": choices("record"),
    "break_after": st.sampled_from([None, 0, 1, 2]),
    # Mostly none, so that what comes after the limits has its turn.
    "max_arguments_bytes": st.sampled_from([None] * 9 + [500]),
    "max_result_bytes": st.sampled_from([None] * 9 + [100]),
    "max_judged_bytes": st.sampled_from([None] * 9 + [100]),
    "max_depth": st.sampled_from([None] * 9 + [3]),
}
tool_settings = st.builds(ToolSettings, **SOME)
proxy_settings = st.builds(
    ProxySettings,
    **SOME,
    tools=st.dictionaries(st.sampled_from(["*", "c*", "echo", "[!e]*"]), tool_settings, max_size=2),
)


class World:
    """A session between a client and the server, whose answers arrive when the test says so."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.server = Hostile()
        self.on_the_way: list[bytes] = []
        self.heard: list[bytes] = []
        self.got: list[bytes] = []
        self.ended: dict[object, CallEnded] = {}

    def say(self, line: bytes) -> None:
        self.take(self.session.from_client(line))

    def deliver(self) -> None:
        if self.on_the_way:
            self.take(self.session.from_server(self.on_the_way.pop(0)))

    def take(self, steps: list[Step]) -> None:
        for step in steps:
            if isinstance(step, ToServer):
                self.heard.append(step.data)
                self.on_the_way += self.server.hears(step.data)
            elif isinstance(step, ToClient):
                self.got.append(step.data)
            else:
                self.note(step)

    def note(self, note: Note) -> None:
        if isinstance(note, CallEnded):
            assert note.id not in self.ended, f"{note.id} ended twice"
            self.ended[note.id] = note
        json.dumps(note.to_dict(), allow_nan=True)


def exact(data: bytes) -> Any:
    """Decoded, with numbers as they are spelled."""
    return json.loads(data, parse_int=lambda spelled: (spelled,), parse_float=lambda spelled: (spelled,))


def differences(one: object, other: object, at: Place = ()) -> list[Place]:
    """The places where two JSON values differ, no deeper than the places above."""
    if one == other:
        return []
    if at == META and one is ABSENT:
        one = {}
    if not isinstance(one, dict) or not isinstance(other, dict) or at == ARGUMENTS or at in PLACES.values():
        return [at]
    keys = list(dict.fromkeys([*one, *other]))
    return [place for key in keys for place in differences(one.get(key, ABSENT), other.get(key, ABSENT), (*at, key))]


def id_of(line: bytes) -> object:
    return json.loads(line).get("id")


@examples(100)
@given(
    chosen=proxy_settings,
    said=st.lists(st.tuples(requests, st.integers(0, 4), st.sampled_from([1, 1, 1, 3])), min_size=2, max_size=10),
    is_listed=st.sampled_from([True, True, False]),
)
def test_what_changed_is_what_the_record_says_and_each_request_is_answered_once(
    chosen: ProxySettings, said: list[tuple[bytes, int, int]], *, is_listed: bool
) -> None:
    world = World(Session(Policies(chosen)))
    bodies = [body for body, _, times in said for _ in range(times)]
    lines = [b'{"jsonrpc":"2.0","id":"%d",%s}' % (number, body) for number, body in enumerate(bodies)]
    for page in LISTS if is_listed else ():
        world.say(page)
        world.deliver()
    before = len(world.got)
    deliveries_of = [deliveries for _, deliveries, times in said for _ in range(times)]
    for line, deliveries in zip(lines, deliveries_of, strict=True):
        world.say(line)
        for _ in range(deliveries):
            world.deliver()
    while world.on_the_way:
        world.deliver()
    assert world.session.close() == []
    check(world, lines, world.got[before:])


def check(world: World, lines: list[bytes], got: list[bytes]) -> None:
    directly = {id_of(line): Hostile().hears(line) for line in lines}
    answers = [line for line in got if "method" not in json.loads(line)]
    assert Counter(map(id_of, answers)) == Counter(directly.keys())
    assert not any(b"toolvet:" in line for line in got)
    heard = {id_of(line): line for line in world.heard}
    for line in lines:
        check_one(line, directly, answers, heard.get(id_of(line)), world.ended.get(id_of(line)))


def check_one(
    line: bytes, directly: dict[object, list[bytes]], answers: list[bytes], heard: bytes | None, note: CallEnded | None
) -> None:
    id_ = id_of(line)
    (wanted,) = [each for each in directly[id_] if id_of(each) == id_]
    (answer,) = [each for each in answers if id_of(each) == id_]
    if note is None and heard is None:
        # No legal call, where arguments are enforced.
        assert not isinstance(json.loads(line)["params"].get("arguments"), dict)
        assert json.loads(answer)["error"]["code"] == -32600
        return
    if note is None or note.outcome != "refused":
        assert heard is not None
        repaired = note is not None and note.repaired is not None
        assert differences(exact(line), exact(heard)) == ([ARGUMENTS] if repaired else [])
        assert repaired or heard == line
    if note is None:
        assert answer == wanted
    elif note.outcome == "refused":
        assert heard is None
        assert note.blocked is not None
    else:
        # Whatever is changed gets the trace id.
        allowed = {PLACES[change] for change in (*note.changed, *(("trace",) if note.changed else ()))}
        found = set(differences(exact(wanted), exact(answer)))
        assert found <= allowed, (note.changed, wanted, answer)
        if not note.changed:
            assert answer == wanted
