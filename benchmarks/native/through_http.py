"""A core in C between clients and a server over HTTP. `through_http.py PORT SERVER_PORT CORE nothing|walk|session`."""

import ctypes
import gc
import sys

from toolvet.proxy.session import Catalogue, Policies, Session
from toolvet.proxy.session.trace import TraceSource

SCHEMA = {
    "type": "object",
    "properties": {"query": {"type": "string"}, "limit": {"type": "integer", "minimum": 1}},
    "required": ["query"],
}
# As server.py lists it: the prototype asks no questions of its own.
catalogue = Catalogue()
catalogue.learn(None, {"tools": [{"name": "search", "description": "Search.", "inputSchema": SCHEMA}]})
policies, traces = Policies(), TraceSource("session")
sessions: dict[int, Session] = {}
# PYFUNCTYPE keeps the GIL while it runs: there is one thread, so giving it up would only cost time.
Reader = ctypes.PYFUNCTYPE(None, ctypes.c_int, ctypes.c_void_p, ctypes.c_int)


def from_client(number: int, place: int, length: int) -> None:
    session = sessions[number] = Session(policies, catalogue, prefix="toolvet:0123456789abcdef:", traces=traces)
    session.from_client(ctypes.string_at(place, length))


def from_server(number: int, place: int, length: int) -> None:
    session = sessions.pop(number)
    session.from_server(ctypes.string_at(place, length))
    session.close()


port, upstream, core, how = sys.argv[1:]
readers = (Reader(from_client), Reader(from_server)) if how == "session" else (Reader(), Reader())
gc.collect()
gc.freeze()
run = ctypes.PyDLL(core).run
run.argtypes, run.restype = (ctypes.c_int, ctypes.c_int, ctypes.c_int, Reader, Reader), None
run(int(port), int(upstream), int(how == "walk"), *readers)
