"""One connection: a client, a server and a driver that do anything in any order, and the reference beside the session.

Beside the reference's word for each step there is a book of the whole: every request is sent on once or answered once.
"""

import json
from collections import Counter
from typing import Any, Final

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule
from tests.proxy.session.model.reference import Reference
from tests.proxy.session.model.said import (
    PREFIX,
    TRACE,
    VERDICT,
    Call,
    Id,
    Note,
    Other,
    Out,
    Steps,
    to_client,
    to_server,
)
from tests.proxy.session.model.vocabulary import ARGUMENTS, ERRORS, LIMITS, RESULTS, TOOLS, UNLISTED

from toolvet.mcp.wire import shallow, split_batch
from toolvet.proxy.session import (
    Asked,
    CallEnded,
    CallStarted,
    Catalogue,
    Policies,
    PolicyFault,
    ProxySettings,
    SchemaForgotten,
    SchemaLearned,
    Session,
    Step,
    ToClient,
    ToServer,
)

MODERN: Final = {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}
# Few, so that they collide; the last ones look like the session's own.
ODD_IDS: Final = (0, 1, "1", -1, 2**70, "", "a", "\u00fc\u2028", PREFIX, f"{PREFIX}x", f"{PREFIX}999")
DEEP: Final = b"[" * 3000 + b"]" * 3000
CAPABILITIES: Final[dict[str, dict[str, Any]]] = {
    "none": {},
    "tools": {"tools": {}},
    "validator": {"tools": {}, "experimental": {"toolValidation": {"supported": True, "method": "check"}}},
}
PAGES: Final = {None: ("get", "put"), "2": ("odd", "out", "check")}
WHOLE: Final = tuple(TOOLS)
CLIENT_METHODS: Final = ("ping", "tools/list", "initialize", "server/discover", "resources/read", "tasks/get")
SERVER_METHODS: Final = (
    *("sampling/createMessage", "elicitation/create", "roots/list", "tools/call"),
    *("notifications/progress", "notifications/message", "notifications/cancelled"),
)
VALIDATIONS: Final = {
    "yes": {"structuredContent": {"valid": True, "errors": []}},
    "no": {"structuredContent": {"valid": False, "errors": ["No seats are left."]}},
    "nonsense": {"content": [{"type": "text", "text": "fine"}]},
}
# Lines that are not legal messages, and whether one may be a call to a lenient server.
# Whether it may be a call, and the id that a refusal of it has.
MALFORMED: Final = {
    b"": (False, None),
    b"nonsense": (False, None),
    b'{"jsonrpc": "2.0", "id": 1.5, "method": "tools/call", "params": {"name": "get"}}': (True, None),
    b'{"jsonrpc": "2.0", "id": null, "method": "tools/call", "params": {"name": "get"}}': (True, None),
    b'{"jsonrpc": "2.0", "id": true, "method": "ping"}': (False, None),
    b'{"id": 1, "method": "ping"}': (False, None),
    b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "get\\ud800"}}': (True, 1),
    b"7": (False, None),
    b'"tools/call"': (False, None),
    b"\xff\xfe": (False, None),
    b'{"jsonrpc": "2.0", "id": 1, "method"': (False, None),
}

ids = st.integers(100, 140) | st.integers(100, 140) | st.sampled_from(ODD_IDS)
policies = st.builds(
    ProxySettings,
    arguments=st.sampled_from(["enforce", "audit", "off"]),
    repair=st.sampled_from(["apply", "suggest", "off"]),
    results=st.sampled_from(["annotate", "enforce", "off"]),
    output_schema=st.sampled_from(["warn", "enforce", "off"]),
    verdict=st.sampled_from(["on_request", "always"]),
    server_validation=st.sampled_from(["before_call", "off"]),
    break_after=st.sampled_from([1, 2, 5, 0]),
    break_repeats=st.sampled_from([1, 3, 5, 0]),
    announce=st.sampled_from(["capability", "tool", "off"]),
    **{name: st.just(limit) for name, limit in LIMITS.items()},
)
wishes = st.sampled_from([{}, {}, {VERDICT: True}, {TRACE: "turn-7"}, {VERDICT: True, TRACE: True}])
calls = st.fixed_dictionaries(
    {
        "id": ids,
        "tool": st.sampled_from([*TOOLS, *UNLISTED, "get", "get"]),
        "kind": st.sampled_from([*ARGUMENTS, "good", "good", "missing", "repairable"]),
        "wish": wishes,
        "task": st.booleans(),
    }
)
requests = st.fixed_dictionaries(
    {
        "id": ids,
        "method": st.sampled_from(
            ["ping", "tools/list", "initialize", "server/discover", "resources/read", "tasks/get"]
        ),
        "cursor": st.sampled_from([None, None, "2"]),
    }
)
cancellations = st.fixed_dictionaries({"cancels": ids | st.sampled_from([True, 1.0, None])})
tellings = st.fixed_dictionaries({"tells": st.sampled_from(["notifications/progress", "notifications/initialized"])})
unreadable = st.fixed_dictionaries({"id": ids, "unreadable": st.sampled_from(["no name", "no arguments", "1e999"])})
client_replies = st.fixed_dictionaries({"replies": ids})
said_by_client = calls | calls | requests | cancellations | tellings | unreadable | client_replies
shapes = st.sampled_from([*RESULTS, "done", "failed", "failed", *ERRORS, "noise"])


class SessionMachine(RuleBasedStateMachine):
    """The session against the reference."""

    @initialize(
        settings=policies,
        modern=st.booleans(),
        loose=st.booleans(),
        paged=st.booleans(),
        offered=st.sampled_from([None, *CAPABILITIES]),
        listed=st.booleans(),
    )
    def start(
        self, settings: ProxySettings, *, modern: bool, loose: bool, paged: bool, offered: str | None, listed: bool
    ) -> None:
        self.catalogue = Catalogue()
        self.session = Session(Policies(settings), self.catalogue, prefix=PREFIX)
        self.reference = Reference(settings)
        self.modern, self.loose, self.paged = modern, loose, paged
        self.tag = 0
        # Requests that the server did not answer yet, those it answered, and the questions that the driver may give up.
        self.inbox: list[dict[str, Any]] = []
        self.answered: list[dict[str, Any]] = []
        self.questions: list[str] = []
        self.noted: list[Note] = []
        # By type and value of the id: asked by the client, never sent on, got and answered by the server, heard by
        # the client.
        self.asked, self.dropped, self.got = Counter[str](), Counter[str](), Counter[str]()
        self.said, self.heard = Counter[str](), Counter[str]()
        if offered is not None:
            self.ask_and_hear("server/discover" if modern else "initialize", {"capabilities": CAPABILITIES[offered]})
        if listed:
            self.ask_and_hear("tools/list", None)
            if paged:
                self.ask_and_hear("tools/list", None, cursor="2")

    def ask_and_hear(self, method: str, result: object, *, cursor: str | None = None) -> None:
        """The client asks, and the server answers at once; None as the result is its page."""
        raw, expected = self.spoken({"id": "opening", "method": method, "cursor": cursor})
        self.compare(raw, self.session.from_client(raw), expected)
        asked = self.inbox.pop()
        raw, expected = self.answer_as("opening", "page", self.page(asked) if result is None else result)
        self.compare(raw, self.session.from_server(raw), expected)

    # The client.

    @rule(what=said_by_client)
    def the_client_says(self, what: dict[str, Any]) -> None:
        raw, expected = self.spoken(what)
        self.compare(raw, self.session.from_client(raw), expected)

    @rule(whats=st.lists(said_by_client, max_size=4))
    def the_client_says_a_batch(self, whats: list[dict[str, Any]]) -> None:
        raws, expected = [], Steps()
        for what in whats:
            raw, steps = self.spoken(what)
            raws.append(raw)
            expected += steps
        batch = b"[" + b" , ".join(raws) + b"]"
        self.compare(batch, self.session.from_client(batch), expected, parts=raws)

    @rule(what=calls, times=st.integers(1, 7), shape=shapes)
    def the_client_repeats_a_call_that_ends_the_same_way(self, what: dict[str, Any], times: int, shape: str) -> None:
        for time in range(times):
            before = len(self.inbox)
            raw, expected = self.spoken({**what, "id": f"{self.tag}-{time}"})
            self.compare(raw, self.session.from_client(raw), expected)
            for asked in self.inbox[before:]:
                self.inbox.remove(asked)
                said = self.plain_answer(asked) if self.is_own(asked["id"]) else (shape, RESULTS.get(shape))
                raw, expected = self.answer_as(asked["id"], *said)
                self.compare(raw, self.session.from_server(raw), expected)

    @precondition(lambda self: self.reference.calls)
    @rule(data=st.data())
    def the_client_cancels(self, data: st.DataObject) -> None:
        kept = [call.id for call in (*self.reference.held, *self.reference.asking.values())]
        id_ = data.draw(st.sampled_from([*self.reference.open, *kept, 1]))
        raw, expected = self.spoken({"cancels": id_})
        self.compare(raw, self.session.from_client(raw), expected)

    @rule(data=st.sampled_from(sorted(MALFORMED)))
    def the_client_says_nonsense(self, data: bytes) -> None:
        is_call, id_ = MALFORMED[data]
        expected = self.reference.unreadable(data, id_) if is_call else to_server(data)
        self.compare(data, self.session.from_client(data), expected)

    @rule(id_=ids, tool=st.sampled_from(["get", "ghost"]))
    def the_client_calls_too_deeply(self, id_: Id, tool: str) -> None:
        params = {"name": tool, "arguments": {"x": "deep"}}
        raw = self.written({"id": id_, "method": "tools/call", "params": params}).replace(b'"deep"', DEEP)
        call = Call(id_, tool, "deep", {}, {}, raw)
        self.asked[key(id_)] += 1
        self.compare(call.raw, self.session.from_client(call.raw), self.reference.deep_call(call))

    # The server.

    @precondition(lambda self: self.inbox)
    @rule(data=st.data())
    def the_server_answers(self, data: st.DataObject) -> None:
        raw, expected = self.answer(self.inbox.pop(data.draw(st.integers(0, len(self.inbox) - 1))), data)
        self.compare(raw, self.session.from_server(raw), expected)

    @precondition(lambda self: self.inbox)
    @rule(data=st.data())
    def the_server_answers_in_a_batch(self, data: st.DataObject) -> None:
        raws, expected = [], Steps()
        for _ in range(data.draw(st.integers(1, min(3, len(self.inbox))))):
            raw, steps = self.answer(self.inbox.pop(data.draw(st.integers(0, len(self.inbox) - 1))), data)
            raws.append(raw)
            expected += steps
        batch = b"[" + b", ".join(raws) + b"]"
        self.compare(batch, self.session.from_server(batch), expected, parts=raws)

    @precondition(lambda self: self.answered)
    @rule(data=st.data())
    def the_server_answers_once_more(self, data: st.DataObject) -> None:
        raw, expected = self.answer(data.draw(st.sampled_from(self.answered)), data)
        self.compare(raw, self.session.from_server(raw), expected)

    @rule(id_=ids, shape=shapes)
    def the_server_answers_what_it_was_not_asked(self, id_: Id, shape: str) -> None:
        raw, expected = self.answer_as(id_, shape, RESULTS.get(shape))
        self.compare(raw, self.session.from_server(raw), expected)

    @rule(id_=ids | st.none(), method=st.sampled_from(SERVER_METHODS))
    def the_server_asks_or_tells(self, id_: Id | None, method: str) -> None:
        message = {"method": method, "params": {"progressToken": 1, "requestId": 1}}
        raw = self.written(message if id_ is None else {"id": id_, **message})
        self.compare(raw, self.session.from_server(raw), to_client(raw))

    @precondition(lambda self: self.reference.calls % 3 == 2)
    @rule()
    def the_tools_change(self) -> None:
        raw = self.written({"method": "notifications/tools/list_changed"})
        self.compare(raw, self.session.from_server(raw), self.reference.list_changed(raw))

    @rule(data=st.sampled_from([b"", b"nonsense", b"7", b"\xff\xfe", b'{"id": 1, "method": "x"}', b"[]"]))
    def the_server_says_nonsense(self, data: bytes) -> None:
        parts: list[bytes] | None = [] if data == b"[]" else None
        expected = Steps() if data == b"[]" else to_client(data)
        self.compare(data, self.session.from_server(data), expected, parts=parts)

    # The driver.

    @precondition(lambda self: self.questions)
    @rule(data=st.data())
    def the_driver_gives_up(self, data: st.DataObject) -> None:
        question = data.draw(st.sampled_from(self.questions))
        self.compare(b"", self.session.give_up(question), self.reference.give_up(question))

    @precondition(lambda self: self.inbox)
    @rule(data=st.data())
    def the_driver_answers_for_the_server(self, data: st.DataObject) -> None:
        asked = self.inbox.pop(data.draw(st.integers(0, len(self.inbox) - 1)))
        id_ = asked["id"]
        if str(id_).startswith(PREFIX) and id_ in self.questions:
            self.compare(b"", self.session.give_up(id_), self.reference.give_up(id_))
            return
        raw = self.written({"id": id_, "error": {"code": -32603, "message": "The MCP server is unavailable"}})
        self.said[key(id_)] += 1
        self.compare(raw, self.session.fail(raw), self.reference.fail(id_, raw))

    @precondition(lambda self: self.reference.calls % 3 == 1)
    @rule()
    def the_list_grows_old(self) -> None:
        self.catalogue.forget()
        self.reference.forget()

    def teardown(self) -> None:
        """The server answers every open request: then none may be open."""
        if not hasattr(self, "session"):
            return
        expected = self.reference.close()
        if len(self.noted) % 3 == 0:
            # The end in the middle: every open call is on record.
            assert [told(note) for note in self.session.close()] == expected
            self.check_notes([*self.noted, *expected])
            return
        while self.inbox:
            asked = self.inbox.pop(0)
            raw, expected_steps = self.answer_as(asked["id"], *self.plain_answer(asked))
            self.compare(raw, self.session.from_server(raw), expected_steps)
        assert self.session.close() == []
        assert self.session._pending == {}
        for id_ in self.asked:
            sent_or_answered = self.got[id_] + self.heard[id_] - self.said[id_]
            assert self.asked[id_] - self.dropped[id_] == sent_or_answered, id_
        self.check_notes(self.noted)

    @staticmethod
    def check_notes(notes: list[Note]) -> None:
        """Every call ends once, and begins at most once, before that."""
        ended = [note[1] for note in notes if note[0] == "ended"]
        started = [note[1] for note in notes if note[0] == "started"]
        assert len(set(ended)) == len(ended)
        assert len(set(started)) == len(started)
        assert set(started) <= set(ended)

    # Their messages.

    def written(self, message: dict[str, Any]) -> bytes:
        separators = (" , ", "  :") if self.loose else (",", ":")
        return json.dumps({"jsonrpc": "2.0", **message}, separators=separators, ensure_ascii=self.loose).encode()

    def spoken(self, what: dict[str, Any]) -> tuple[bytes, Steps]:
        """The bytes of what the client says, and what must follow; told to the reference."""
        self.tag += 1
        meta = {"tag": self.tag, **(MODERN if self.modern else {})}
        if "cancels" in what:
            raw = self.written({"method": "notifications/cancelled", "params": {"requestId": what["cancels"]}})
            steps = self.reference.cancel(what["cancels"], raw)
            if not steps.messages:
                self.dropped[key(what["cancels"])] += 1
            return raw, steps
        if "tells" in what:
            raw = self.written({"method": what["tells"], "params": {"progressToken": 1}})
            return raw, to_server(raw)
        id_ = what["replies"] if "replies" in what else what["id"]
        if "replies" in what:
            raw = self.written({"id": id_, "result": {"roots": []}})
            return raw, to_server(raw)
        self.asked[key(id_)] += 1
        if "unreadable" in what:
            return self.unreadable_call(id_, what["unreadable"], meta)
        if "method" in what:
            params = {"_meta": meta, **({"cursor": what["cursor"]} if what["cursor"] else {})}
            raw = self.written({"id": id_, "method": what["method"], "params": params})
            return raw, self.reference.request(Other(id_, what["method"], raw, what["cursor"]))
        return self.call(id_, what, {**meta, **what["wish"]})

    def call(self, id_: Id, what: dict[str, Any], meta: dict[str, Any]) -> tuple[bytes, Steps]:
        arguments = ARGUMENTS[what["kind"]]
        if what["tool"] == "validate":
            arguments = {"tool": "get", "arguments": {"a": 1}}
        params: dict[str, Any] = {"name": what["tool"], "arguments": arguments, "_meta": meta}
        if what["task"]:
            params["task"] = {"ttl": 1000}
        raw = self.written({"id": id_, "method": "tools/call", "params": params})
        kind = "good" if what["tool"] == "validate" else what["kind"]
        return raw, self.reference.call(Call(id_, what["tool"], kind, arguments, meta, raw, is_task=what["task"]))

    def unreadable_call(self, id_: Id, how: str, meta: dict[str, Any]) -> tuple[bytes, Steps]:
        params = {"name": "get", "arguments": 5, "_meta": meta} if how == "no arguments" else {"_meta": meta}
        raw = self.written({"id": id_, "method": "tools/call", "params": params})
        if how == "1e999":
            raw = raw.replace(b'"tag"', b'"huge": 1e999, "tag"')
        return raw, self.reference.unreadable_call(Other(id_, "tools/call", raw))

    def answer(self, asked: dict[str, Any], data: st.DataObject) -> tuple[bytes, Steps]:
        """Some answer to a request that the server got."""
        method = asked["method"]
        if asked not in self.answered:
            self.answered.append(asked)
        if method == "tools/list" and data.draw(st.sampled_from(["page", "page", "page", "other"])) == "page":
            return self.answer_as(asked["id"], "page", self.page(asked))
        if method in {"initialize", "server/discover"}:
            offered = data.draw(st.sampled_from(sorted(CAPABILITIES)))
            return self.answer_as(asked["id"], offered, {"capabilities": CAPABILITIES[offered]})
        if self.is_own(asked["id"]) and method == "tools/call":
            reply = data.draw(st.sampled_from(sorted(VALIDATIONS)))
            return self.answer_as(asked["id"], reply, VALIDATIONS[reply])
        shape = data.draw(shapes)
        return self.answer_as(asked["id"], shape, RESULTS.get(shape))

    def plain_answer(self, asked: dict[str, Any]) -> tuple[str, object]:
        if asked["method"] == "tools/list":
            return "page", self.page(asked)
        if self.is_own(asked["id"]):
            return "yes", VALIDATIONS["yes"]
        return "done", RESULTS["done"]

    def page(self, asked: dict[str, Any]) -> dict[str, Any]:
        cursor = (asked.get("params") or {}).get("cursor")
        names = PAGES[cursor] if self.paged else WHOLE
        following = {"nextCursor": "2"} if self.paged and cursor is None else {}
        return {"tools": [TOOLS[name] for name in names], **following}

    def answer_as(self, id_: Id, shape: str, result: object) -> tuple[bytes, Steps]:
        if not self.is_own(id_):
            self.said[key(id_)] += 1
        if shape == "noise":
            raw = self.written({"id": id_, "result": {"x": "half"}}).replace(b"half", rb"\ud800")
            return raw, self.reference.answer(id_, raw)
        if shape in ERRORS:
            raw = self.written({"id": id_, "error": ERRORS[shape]})
            return raw, self.reference.answer(id_, raw, error=shape)
        raw = self.written({"id": id_, "result": result})
        return raw, self.reference.answer(id_, raw, result=result)

    def is_own(self, id_: Id) -> bool:
        return id_ in self.questions

    # Its outcome.

    def compare(self, data: bytes, steps: list[Step], expected: Steps, *, parts: list[bytes] | None = None) -> None:
        """Compare what the session does with what it must do. `parts` are the messages of a batch."""
        self.keep_book(steps)
        notes = [told(step) for step in steps if not isinstance(step, ToServer | ToClient)]
        for side, kind in (("server", ToServer), ("client", ToClient)):
            sent = [step.data for step in steps if isinstance(step, kind)]
            if sent == [data] and parts is not None:
                assert sent[0] is data
                assert [out.raw for out in expected.messages if out.to == side] == parts
                continue
            alone = [one for each in sent for one in (split_batch(each) if each.startswith(b"[") else [each])]
            wanted = [out for out in expected.messages if out.to == side]
            assert len(alone) == len(wanted), (side, alone, wanted)
            for one in alone:
                # The messages of a batch are in no order: what is about a question of the proxy's own goes alone.
                out = next((out for out in wanted if fits(one, out)), None) if parts else wanted[0]
                assert out is not None, (one, wanted)
                assert fits(one, out), (one, out)
                assert parts is not None or out.raw != data or one is out.raw, "the same bytes, but a copy"
                wanted.remove(out)
        assert notes == expected.notes
        self.noted += notes
        self.questions += [str(note[1]) for note in notes if note[0] == "asked"]
        self.check_state()

    def keep_book(self, steps: list[Step]) -> None:
        """Note what the server gets, and what the client hears."""
        for step in steps:
            if not isinstance(step, ToServer | ToClient):
                json.dumps(step.to_dict())
                continue
            for one in split_batch(step.data) if step.data.startswith(b"[") else [step.data]:
                try:
                    message = json.loads(shallow(one))
                except ValueError:
                    continue
                if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
                    continue
                id_ = message.get("id")
                if isinstance(id_, bool) or not isinstance(id_, int | str):
                    continue
                if isinstance(step, ToServer) and "method" in message and b"get\\ud800" not in one:
                    self.inbox.append(message)
                    self.got[key(id_)] += 1
                elif isinstance(step, ToClient) and "method" not in message:
                    assert not self.is_own(id_), "an answer to the proxy's own question reached the client"
                    self.heard[key(id_)] += 1

    def check_state(self) -> None:
        """The session and the reference keep the same."""
        session, reference = self.session, self.reference
        assert session._pending.keys() == reference.open.keys()
        assert [call.number for call in session._held] == [call.number for call in reference.held]
        assert session._validating.keys() == reference.asking.keys()
        assert set(self.catalogue.tools) == reference.known
        assert self.catalogue.generation == reference.generation
        counts = sorted(row.failures for rows in self.catalogue.breaker._failing.values() for row in rows.values())
        assert counts == sorted(row[0] for row in reference.failing.values())


def key(id_: object) -> str:
    """`1` and `"1"` are two ids."""
    return repr(id_)


def fits(data: bytes, out: Out) -> bool:
    """Whether these bytes are the message that must come out."""
    if out.raw is not None:
        return data == out.raw
    assert out.like is not None
    try:
        return bool(out.like(json.loads(data)))
    except (KeyError, TypeError):
        # A message of another kind, without the members that this one has.
        return False


def told(note: Step) -> Note:
    """What of a note the reference foretells."""
    match note:
        case CallStarted():
            return "started", note.call, note.tool
        case CallEnded():
            return "ended", note.call, note.outcome, note.blocked, note.would_block, note.changed
        case Asked():
            return "asked", note.id
        case SchemaLearned():
            return "learned", note.tools, note.complete
        case SchemaForgotten():
            return ("forgotten",)
        case PolicyFault():
            return "fault", note.kind
        case _:
            raise AssertionError(note)
