"""Measure the session: one tools/call of 1 KB there and back with everything on, and messages that pass unchecked."""

import time
from collections.abc import Callable
from statistics import median

import orjson

from toolvet.session import Policies, ProxySettings, Session

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
RUNS, CALLS = 1000, 20


def call(id_: int) -> bytes:
    params = {"name": "search", "arguments": ARGUMENTS, "_meta": META}
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


def microseconds(work: Callable[[int], object]) -> float:
    """The median of many runs, each shorter than a time slice: what else the machine does makes some of them slow."""
    taken = []
    for _ in range(RUNS):
        begun = time.perf_counter()
        for id_ in range(CALLS):
            work(id_)
        taken.append(1e6 * (time.perf_counter() - begun) / CALLS)
    return median(taken)


def round_trip(of: Session, **more: object) -> Callable[[int], object]:
    outgoing = [call(id_) for id_ in range(CALLS)]
    incoming = [result(id_, **more) for id_ in range(CALLS)]

    def work(id_: int) -> None:
        of.from_client(outgoing[id_])
        of.from_server(incoming[id_])

    return work


def main() -> None:
    print(f"a call of {len(call(1))} bytes, a result of {len(result(1))}; microseconds, median")
    off = ProxySettings(arguments="off", results="off", output_schema="off", break_after=0)
    lines: dict[str, Callable[[int], object]] = {
        "tools/call there and back, defaults": round_trip(session()),
        "tools/call with an outputSchema kept": round_trip(session(output=True), structuredContent={"total": 3}),
        "tools/call, verdict in _meta": round_trip(session(ProxySettings(verdict="always"))),
        "tools/call, everything off": round_trip(session(off)),
    }
    passing = session()
    notification = b'{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":2}}'
    request = b'{"jsonrpc":"2.0","id":5,"method":"resources/read","params":{"uri":"file:///a"}}'
    sampling = b'{"jsonrpc":"2.0","id":5,"method":"sampling/createMessage","params":{"messages":[]}}'
    answer = result(10**9)
    lines["a notification of the server"] = lambda _: passing.from_server(notification)
    lines["another request of the client"] = lambda _: passing.from_client(request)
    lines["a request of the server"] = lambda _: passing.from_server(sampling)
    lines["another result of 1 KB"] = lambda _: passing.from_server(answer)
    for name, work in lines.items():
        print(f"{microseconds(work):8.2f}  {name}")


if __name__ == "__main__":
    main()
