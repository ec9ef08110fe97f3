"""The reference: what a session must do, written as plainly as possible and without its code.

It receives the meaning of each message, not the bytes, and returns the expected output as tuples: `Out` and notes.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.proxy.session.model.said import (
    PREFIX,
    REPAIR,
    TRACE,
    VERDICT,
    Call,
    Id,
    Note,
    Other,
    Out,
    Reading,
    Steps,
    Unchecked,
    noted,
    to_client,
    to_server,
)
from tests.proxy.session.model.vocabulary import BAD, ERRORS, LIMITS, REPAIRED, facts

from toolvet.proxy.session import ProxySettings


class Reference:
    """The state of one connection, as plain dictionaries."""

    def __init__(self, settings: ProxySettings) -> None:
        self.arguments = settings.arguments or "enforce"
        self.repair = settings.repair or "suggest"
        self.results = settings.results or "annotate"
        self.output_schema = settings.output_schema or "warn"
        self.always = settings.verdict == "always"
        self.before_call = settings.server_validation == "before_call"
        self.break_after = 5 if settings.break_after is None else settings.break_after
        self.break_repeats = 5 if settings.break_repeats is None else settings.break_repeats
        self.announce = settings.announce
        self.open: dict[Id, Call | Other | Unchecked] = {}
        self.held: list[Call] = []
        self.asking: dict[str, Call] = {}
        self.reading: Reading | None = None
        self.calls = self.questions = self.generation = 0
        # The tool list.
        self.known: set[str] = set()
        self.reported: set[str] = set()
        self.absent: set[str] = set()
        self.page: set[str] = set()
        self.next: str | None = None
        self.complete = False
        self.ours = self.has_validator = False
        # Failures and refusals in a row, by tool and arguments.
        self.failing: dict[tuple[str, str], list[int]] = {}
        # The last result of each call, "" after the first one, and how many in a row were not news.
        self.last: dict[tuple[str, str], str] = {}
        self.stale = self.turned_away = 0

    # The client.

    def call(self, call: Call) -> Steps:
        self.calls += 1
        call.number = self.calls
        if not self.held and not (call.tool not in self.known and self._needs_list(call)):
            return self._decide(call)
        self.held.append(call)
        call.started = True
        steps = noted(("started", call.number, call.tool))
        if self.reading is None:
            self.reading = Reading("", self.generation)
            return steps + self._ask_page()
        return steps

    def unreadable_call(self, said: Other) -> Steps:
        """A call whose parameters are not those of a call."""
        self.calls += 1
        if self.arguments == "enforce":
            return self.unreadable(said.raw, said.id)
        return to_server(said.raw) + self._expect(said.id, Unchecked(1)) + noted(("fault", "call_unreadable"))

    def unreadable(self, raw: bytes, id_: object) -> Steps:
        """An illegal message that is a call to a lenient reader."""
        if self.arguments != "enforce":
            return to_server(raw) + noted(("fault", "call_unreadable"))

        def like(said: dict[str, Any]) -> bool:
            return bool(said["id"] == id_ and said["error"]["code"] == -32600)

        return Steps([Out("client", None, like)], [("fault", "request_refused")])

    def deep_call(self, call: Call) -> Steps:
        """A call too deep to be decoded."""
        self.calls += 1
        call.number = self.calls
        if self.arguments == "enforce":
            return self._refuse(call, "limits")
        return to_server(call.raw) + self._expect(call.id, Unchecked(1)) + noted(("fault", "call_unreadable"))

    def request(self, said: Other) -> Steps:
        said.generation = self.generation
        is_decided = said.method in {"tools/list", "initialize", "server/discover"}
        return to_server(said.raw) + self._expect(said.id, said if is_decided else Unchecked(1))

    def cancel(self, id_: object, raw: bytes) -> Steps:
        if isinstance(id_, bool) or not isinstance(id_, int | str):
            return to_server(raw)
        for call in self.held:
            if call.id == id_:
                self.held.remove(call)
                return noted(_ended(call, "cancelled"))
        for question, call in self.asking.items():
            if call.id == id_:
                del self.asking[question]
                return noted(_ended(call, "cancelled"))
        expected = self.open.pop(id_, None)
        if isinstance(expected, Unchecked) and expected.answers > 1:
            self.open[id_] = Unchecked(expected.answers - 1)
        ended = [_ended(expected, "cancelled")] if isinstance(expected, Call) else []
        return to_server(raw) + noted(*ended)

    # The server.

    def list_changed(self, raw: bytes) -> Steps:
        self._forget()
        self.failing.clear()
        self.last.clear()
        self._news()
        return to_client(raw) + noted(("forgotten",))

    def answer(self, id_: Id, raw: bytes, *, result: object = ..., error: str = "") -> Steps:
        """An answer with this result or this error; with neither it is not a legal message, but has the id."""
        expected = self.open.pop(id_, None)
        if expected is None:
            if self._is_own(id_):
                return self._own_answer(str(id_), result)
            return to_client(raw)
        if isinstance(expected, Unchecked):
            if expected.answers > 1:
                self.open[id_] = Unchecked(expected.answers - 1)
            return to_client(raw)
        if isinstance(expected, Call):
            return self._judge(expected, raw, result, error)
        if result is ...:
            return to_client(raw)
        if expected.method == "tools/list":
            return self._learn(expected, raw, result)
        return self._open(expected, raw, result)

    def fail(self, id_: Id, raw: bytes) -> Steps:
        """The driver answers in place of a server that is gone."""
        call = self.open.get(id_)
        if not isinstance(call, Call):
            return self.answer(id_, raw, error="unavailable")
        del self.open[id_]

        def like(message: dict[str, Any]) -> bool:
            return message["id"] == id_ and TRACE in message["error"]["data"]

        return Steps([Out("client", None, like)], [_ended(call, "protocol_error")])

    def give_up(self, question: str) -> Steps:
        return self._own_answer(question, None)

    def forget(self) -> None:
        """The driver: the list is older than the server allows."""
        self._forget()

    def close(self) -> list[Note]:
        waiting = [each for each in self.open.values() if isinstance(each, Call)]
        return [_ended(call, "lost") for call in (*waiting, *self.held, *self.asking.values())]

    # Decisions on a call.

    def _needs_list(self, call: Call) -> bool:
        if self.ours and call.tool == "validate":
            return not self.complete and any(
                tool not in self.known and tool not in self.absent for tool in ("validate", call.arguments["tool"])
            )
        return self.arguments != "off" and call.tool not in self.absent

    def _decide(self, call: Call) -> Steps:
        if call.tool not in self.known and self.ours and call.tool == "validate":
            return Steps([_own(call, is_error=False)], [_ended(call, "validated")])
        faults = noted()
        if call.tool in self.known and call.tool not in self.reported and self.arguments != "off":
            self.reported.add(call.tool)
            if call.tool == "odd":
                faults = noted(("fault", "schema_unusable"))
        reason = self._vet(call)
        if reason is not None:
            return self._refuse(call, reason) + faults
        if self.has_validator and self.before_call and call.tool != "check":
            question = self._new_question()
            self.asking[question] = call
            steps = Steps([_question(question, "tools/call")], [("asked", question)])
            if not call.started:
                call.started = True
                steps += noted(("started", call.number, call.tool))
            return steps + faults
        return self._send(call) + faults

    def _vet(self, call: Call) -> str | None:
        """Why the call is refused."""
        if self.arguments != "off":
            reason: str | None = None
            if len(call.raw) > LIMITS["max_arguments_bytes"] or call.kind == "deep":
                reason = self._unless_audit(call, "limits")
            if reason is None and call.tool == "get" and call.tool in self.known and call.kind in BAD:
                reason = self._bad_arguments(call)
            if reason is not None:
                return reason
        row = self.failing.get(_key(call))
        if self.break_after and row is not None and row[0] >= self.break_after:
            if row[1] < self.break_after:
                row[1] += 1
                return self._unless_audit(call, "repeated")
            row[1] = 0
        return self._vet_circle(call)

    def _vet_circle(self, call: Call) -> str | None:
        """Refuses a call whose result was repeatedly not news."""
        least = max(self.break_repeats, 3)
        in_row = self.stale + 2
        if not self.break_repeats or in_row < (least if call.arguments else 4 * least):
            return None
        if self.last.get(_key(call), "") in {"", "failed"}:
            return None
        if self.turned_away >= least:
            self.turned_away = 0
            return None
        self.turned_away += 1
        return self._unless_audit(call, "unchanged")

    def _bad_arguments(self, call: Call) -> str | None:
        if self.repair == "apply" and self.arguments == "enforce" and call.kind == "repairable":
            call.repaired, call.arguments = True, REPAIRED
            return None
        self._count_failure(call)
        return self._unless_audit(call, "arguments")

    def _unless_audit(self, call: Call, reason: str) -> str | None:
        if self.arguments != "audit":
            return reason
        call.would_block = call.would_block or reason
        return None

    def _refuse(self, call: Call, reason: str) -> Steps:
        return Steps([_own(call, is_error=True)], [_ended(call, "refused", blocked=reason)])

    def _send(self, call: Call) -> Steps:
        clash = self._expect(call.id, call)
        started = [] if call.started else [("started", call.number, call.tool)]
        call.started = True
        return Steps([_sent(call)], list(started)) + clash

    def _expect(self, id_: Id, answer: Call | Other | Unchecked) -> Steps:
        earlier = self.open.get(id_)
        if earlier is None:
            self.open[id_] = answer
            return noted()
        self.open[id_] = Unchecked((earlier.answers if isinstance(earlier, Unchecked) else 1) + 1)
        if isinstance(earlier, Unchecked) and isinstance(answer, Unchecked):
            return noted()
        lost = [_ended(each, "lost") for each in (earlier, answer) if isinstance(each, Call)]
        return noted(("fault", "duplicate_id"), *lost)

    # Decisions on an answer.

    def _judge(self, call: Call, raw: bytes, result: object, error: str) -> Steps:
        if error:
            found = facts(ERRORS[error], call.tool, promised=False)
            self._count("protocol_error", call, waits=found.waits and self.results != "off")
            return to_client(raw) + noted(_ended(call, "protocol_error"))
        if result is ...:
            return to_client(raw) + noted(_ended(call, "unreadable"))
        outcome, blocked, changed = self._inspect(call, len(raw), result)
        wants_verdict = self.always or VERDICT in call.meta
        notes = [REPAIR] if call.repaired else []
        if outcome.has_words and wants_verdict:
            notes.append(VERDICT)
            changed = ["verdict", *changed]
        if TRACE in call.meta:
            changed = [*(["verdict"] if "verdict" in changed else []), "trace", *(c for c in changed if c != "verdict")]
        name = "tool_error" if "is_error" in changed else outcome.name
        if not isinstance(result, dict) or not (blocked or notes or changed):
            return to_client(raw) + noted(_ended(call, outcome.name, blocked=blocked))
        like = _changed_result(call, result, {*notes, TRACE}, blocked=blocked)
        return Steps([Out("client", None, like)], [_ended(call, name, blocked=blocked, changed=tuple(changed))])

    def _inspect(self, call: Call, size: int, result: object) -> tuple["_Outcome", str | None, list[str]]:
        promised = self.output_schema != "off" and call.tool == "out" and call.tool in self.known
        members = result if isinstance(result, dict) else {}
        kind = members.get("resultType")
        is_task = kind == "task" or (call.is_task and not call.is_modern and isinstance(members.get("task"), dict))
        if self.results == "off" and not promised and not (self.always or VERDICT in call.meta):
            if members.get("isError") is True:
                name = "tool_error"
            elif kind == "input_required":
                name = kind
            else:
                name = "task" if kind == "task" or isinstance(members.get("task"), dict) else "success"
            self._count(name, call, waits=False)
            if name == "success":
                self._news()
            return _Outcome(name, has_words=False), None, []
        if self.results == "enforce" and size > LIMITS["max_result_bytes"]:
            self._news()
            return _Outcome("success"), "limits", ["is_error", "content"]
        if size > LIMITS["max_judged_bytes"]:
            self._news()
            return _Outcome("success"), None, []
        if not isinstance(result, dict):
            self._news()
            return _Outcome("unreadable"), None, []
        if kind == "input_required" or is_task:
            name = "input_required" if kind == "input_required" else "task"
            return _Outcome(name, has_words=False), None, []
        if kind not in {None, "complete"}:
            self._news()
            return _Outcome("success"), None, []
        found = facts(result, call.tool, promised=promised)
        name = "tool_error" if found.is_error else "success"
        self._count("tool_error" if found.unflagged else name, call, waits=found.waits)
        if name == "success" and not found.unflagged:
            self._watch(call, repr(result))
        parts = ["is_error", "content", *(["structured_content"] if "structuredContent" in result else [])]
        if self.results == "enforce" and found.unflagged:
            return _Outcome(name), "result", ["is_error"]
        if self.results == "enforce" and found.is_broken:
            return _Outcome(name), "result", parts
        if found.is_breach and self.output_schema == "enforce":
            return _Outcome(name), "output_schema", parts
        return _Outcome(name), None, []

    def _count(self, name: str, call: Call, *, waits: bool) -> None:
        if name == "success" and self.break_after:
            changes = call.tool not in self.known or call.tool not in {"get", "out"}
            if changes:
                self.failing.clear()
            else:
                self.failing.pop(_key(call), None)
        elif name in {"tool_error", "protocol_error"} and not waits:
            self._count_failure(call)
            self._watch(call, "failed")

    def _watch(self, call: Call, said: str) -> None:
        """Counts a call that brought what it brought before; a tool that may change things always brings news."""
        if not self.break_repeats:
            return
        key, before = _key(call), self.last.get(_key(call))
        if before is None:
            self._news()
            self.last[key] = said if said == "failed" else ""
        elif said != "failed" and (call.tool not in self.known or call.tool not in {"get", "out"}):
            self._news()
            self.last[key] = ""
        else:
            self.last[key] = said
            if before == said:
                self.stale += 1
            elif before or said == "failed":
                self._news()

    def _news(self) -> None:
        self.stale = self.turned_away = 0

    def _count_failure(self, call: Call) -> None:
        if self.break_after:
            self.failing.setdefault(_key(call), [0, 0])[0] += 1

    # The tool list.

    def _forget(self) -> None:
        self.known, self.absent, self.page, self.next = set(), set(), set(), None
        self.complete = False
        self.generation += 1

    def _read_page(self, cursor: str | None, result: dict[str, Any]) -> bool:
        """Returns whether it was the last page."""
        if cursor is None:
            self.page = set()
        listed = {tool["name"] for tool in result["tools"]}
        self.reported -= listed
        self.page |= listed
        in_row = cursor is None or cursor == self.next
        self.next = result.get("nextCursor")
        if in_row and self.next is None:
            self.known, self.complete = set(self.page), True
            self.absent.clear()
        else:
            self.known |= self.page
        if self.next is None or not in_row:
            self.page = set()
        return self.next is None

    def _learn(self, asked: Other, raw: bytes, result: object) -> Steps:
        if asked.generation != self.generation or not _is_page(result):
            return to_client(raw)
        assert isinstance(result, dict)
        is_last = self._read_page(asked.cursor, result)
        note = noted(("learned", len(result["tools"]), is_last))
        if is_last and self.ours and self.announce == "tool":
            return Steps([Out("client", None, lambda said: said["result"]["tools"][-1]["name"] == "validate")]) + note
        return to_client(raw) + note

    def _open(self, asked: Other, raw: bytes, result: object) -> Steps:
        if asked.method == "initialize":
            self._forget()
        capabilities = result.get("capabilities", {}) if isinstance(result, dict) else {}
        self.has_validator = "experimental" in capabilities
        self.ours = "tools" in capabilities and not self.has_validator and self.announce != "off"
        if not self.ours:
            return to_client(raw)

        def like(said: dict[str, Any]) -> bool:
            return bool(said["result"]["capabilities"]["experimental"]["toolValidation"]["supported"])

        return Steps([Out("client", None, like)])

    # The proxy's own questions.

    def _new_question(self) -> str:
        self.questions += 1
        return f"{PREFIX}{self.questions}"

    def _is_own(self, id_: Id) -> bool:
        return id_ in {f"{PREFIX}{number}" for number in range(1, self.questions + 1)}

    def _ask_page(self) -> Steps:
        assert self.reading is not None
        self.reading.question = self._new_question()
        return Steps([_question(self.reading.question, "tools/list")], [("asked", self.reading.question)])

    def _own_answer(self, question: str, result: object) -> Steps:
        """None as the result: no answer in time."""
        if self.reading is not None and self.reading.question == question:
            return self._own_page(self.reading, result)
        call = self.asking.pop(question, None)
        if call is None:
            return noted()
        reply = result.get("structuredContent") if isinstance(result, dict) else None
        if not isinstance(reply, dict) or "valid" not in reply:
            return self._send(call) + noted(("fault", "server_validation_failed"))
        if not reply["valid"]:
            if self.arguments != "audit":
                return self._refuse(call, "server_validation")
            call.would_block = "server_validation"
        return self._send(call)

    def _own_page(self, reading: Reading, result: object) -> Steps:
        if not _is_page(result):
            return self._release() + noted(("fault", "list_failed"))
        assert isinstance(result, dict)
        if reading.generation != self.generation and reading.restarts < 3:
            self.reading = Reading("", self.generation, restarts=reading.restarts + 1)
            return self._ask_page()
        is_last = self._read_page(reading.cursor, result)
        note = noted(("learned", len(result["tools"]), is_last))
        if not is_last and result["nextCursor"] != reading.cursor:
            reading.cursor = result["nextCursor"]
            return self._ask_page() + note
        return self._release() + note

    def _release(self) -> Steps:
        self.reading = None
        held, self.held = self.held, []
        steps = noted()
        for call in held:
            needed = [call.tool] if self.arguments != "off" else []
            if self.ours and call.tool == "validate":
                needed = [call.tool, call.arguments["tool"]]
            self.absent |= {tool for tool in needed if tool not in self.known}
            steps += self._decide(call)
        return steps


@dataclass
class _Outcome:
    """`has_words`: there is a verdict, or a reason why there is none."""

    name: str
    has_words: bool = True


def _key(call: Call) -> tuple[str, str]:
    return call.tool, repr(sorted(call.arguments.items()))


def _is_page(result: object) -> bool:
    return isinstance(result, dict) and isinstance(result.get("tools"), list)


def _ended(call: Call, outcome: str, *, blocked: str | None = None, changed: tuple[str, ...] = ()) -> Note:
    return "ended", call.number, outcome, blocked, call.would_block, ("repair", *changed) if call.repaired else changed


def _question(question: str, method: str) -> Out:
    return Out("server", None, lambda said: said["id"] == question and said["method"] == method)


def _own(call: Call, *, is_error: bool) -> Out:
    """An answer of the proxy's own."""

    def like(said: dict[str, Any]) -> bool:
        if type(said["id"]) is not type(call.id) or said["id"] != call.id:
            return False
        if call.is_task and not call.is_modern:
            return bool(said["error"]["code"] == -32602)
        result = said["result"]
        is_complete = result.get("resultType") == ("complete" if call.is_modern else None)
        return bool(result["isError"] is is_error and TRACE in result["_meta"] and is_complete)

    return Out("client", None, like)


def _sent(call: Call) -> Out:
    if not call.repaired:
        return Out("server", call.raw)

    def like(said: dict[str, Any]) -> bool:
        params = said["params"]
        return bool(said["id"] == call.id and params["arguments"] == REPAIRED and params.get("_meta", {}) == call.meta)

    return Out("server", None, like)


def _changed_result(
    call: Call, result: dict[str, Any], keys: set[str], *, blocked: str | None
) -> Callable[[dict[str, Any]], bool]:
    replaced = {"_meta"} | ({"isError"} if blocked else set())
    if blocked and not (blocked == "result" and facts(result, call.tool, promised=False).unflagged):
        replaced |= {"content", "structuredContent"}

    def like(said: dict[str, Any]) -> bool:
        got = said["result"]
        same = {key: value for key, value in got.items() if key not in replaced}
        kept = {key: value for key, value in result.items() if key not in replaced}
        flagged = not blocked or got["isError"] is True
        return said["id"] == call.id and same == kept and got["_meta"].keys() == keys and flagged

    return like
