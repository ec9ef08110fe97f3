"""Measure the session: one tools/call of 1 KB there and back with everything on, and messages that pass unchecked.

python -m benchmarks.session
"""

import json
from collections.abc import Callable

import orjson
from benchmarks.harness import Report, Way

from toolvet.proxy.session import Policies, ProxySettings, Session

SCHEMA = {
    "type": "object",
    "properties": {
        "query": {"type": "string", "minLength": 1},
        "limit": {"type": "integer", "minimum": 1, "maximum": 100},
        "tags": {"type": "array", "items": {"type": "string"}},
        "options": {"type": "object", "properties": {"deep": {"type": "boolean"}}},
    },
    "required": ["query"],
    "additionalProperties": False,
}
OUTPUT = {"type": "object", "properties": {"total": {"type": "integer"}}, "required": ["total"]}
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
    "progressToken": 1,
}
ARGUMENTS = {"query": "x " * 330, "limit": 10, "tags": ["a", "b", "c"], "options": {"deep": True}}
TEXT = "Berlin has 3 700 000 inhabitants, and its oldest bridge was rebuilt after the war. " * 11
# More than a session remembers: calls that come again and again with the same result would be refused as a circle.
CALLS = 300


def call(id_: int) -> bytes:
    params = {"name": "search", "arguments": {**ARGUMENTS, "query": f"{id_ % CALLS} " + "x " * 328}, "_meta": META}
    return orjson.dumps({"jsonrpc": "2.0", "id": id_, "method": "tools/call", "params": params})


def result(id_: int, **more: object) -> bytes:
    told = {"resultType": "complete", "content": [{"type": "text", "text": TEXT}], "isError": False, **more}
    return orjson.dumps({"jsonrpc": "2.0", "id": id_, "result": told})


def session(settings: ProxySettings | None = None, *, output: bool = False) -> Session:
    """One that has read the tool list."""
    tool = {"name": "search", "inputSchema": SCHEMA, **({"outputSchema": OUTPUT} if output else {})}
    found = Session(Policies(settings))
    found.from_client(b'{"jsonrpc":"2.0","id":0,"method":"tools/list"}')
    found.from_server(orjson.dumps({"jsonrpc": "2.0", "id": 0, "result": {"tools": [tool]}}))
    return found


def round_trip(of: Session, **more: object) -> Callable[[int], object]:
    outgoing = [call(id_) for id_ in range(CALLS)]
    incoming = [result(id_, **more) for id_ in range(CALLS)]

    def work(id_: int) -> None:
        of.from_client(outgoing[id_])
        of.from_server(incoming[id_])

    return work


def each_in_turn(work: Callable[[int], object]) -> Callable[[], object]:
    """One of the messages after the other."""
    turn = 0

    def next_one() -> None:
        nonlocal turn
        turn = (turn + 1) % CALLS
        work(turn)

    return next_one


def read_only() -> Callable[[int], object]:
    """What any program does that reads both messages as JSON."""
    outgoing, incoming = ([make(id_) for id_ in range(CALLS)] for make in (call, result))

    def work(id_: int) -> None:
        json.loads(outgoing[id_])
        json.loads(incoming[id_])

    return work


def main() -> None:
    off = ProxySettings(arguments="off", results="off", output_schema="off", break_after=0, break_repeats=0)
    passing = session()
    notification = b'{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":2}}'
    request = b'{"jsonrpc":"2.0","id":5,"method":"resources/read","params":{"uri":"file:///a"}}'
    sampling = b'{"jsonrpc":"2.0","id":5,"method":"sampling/createMessage","params":{"messages":[]}}'
    answer = result(10**9)
    lines: dict[str, dict[str, Callable[[int], object]]] = {
        "a call of 1 KB there and back": {
            "toolvet, defaults": round_trip(session()),
            "toolvet, an output schema kept": round_trip(session(output=True), structuredContent={"total": 3}),
            "toolvet, the verdict in `_meta`": round_trip(session(ProxySettings(verdict="always"))),
            "toolvet, everything off": round_trip(session(off)),
            "`json.loads` of both": read_only(),
        },
        "what is passed on": {
            "a notification of the server": lambda _: passing.from_server(notification),
            "another request of the client": lambda _: passing.from_client(request),
            "a request of the server": lambda _: passing.from_server(sampling),
            "another result of 1 KB": lambda _: passing.from_server(answer),
        },
    }
    lost = {"toolvet, everything off": "checks nothing", "`json.loads` of both": "checks and sends nothing"}
    with Report("session") as report:
        for case, ways in lines.items():
            found = [Way(name, each_in_turn(work), lost=lost.get(name, "")) for name, work in ways.items()]
            report.compare("What the session does, without any input or output", case, found)


if __name__ == "__main__":
    main()
