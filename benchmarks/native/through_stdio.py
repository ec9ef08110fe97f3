"""A core in C between a client and a server on pipes. `through_stdio.py CORE nothing|walk|session SERVER …`."""

import ctypes
import gc
import subprocess
import sys

from toolvet.proxy.session import Policies, ProxySettings, Session

core, how, *server = sys.argv[1:]
process = subprocess.Popen(server, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
assert process.stdin is not None
assert process.stdout is not None
# As in through_toolvet.py.
session = Session(
    Policies(ProxySettings(arguments="enforce", repair="apply", results="enforce", output_schema="enforce")),
    prefix="toolvet:0123456789abcdef:",
)
# PYFUNCTYPE keeps the GIL while it runs: there is one thread, so giving it up would only cost time.
Reader = ctypes.PYFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int)


def from_client(place: int, length: int) -> None:
    session.from_client(ctypes.string_at(place, length))


def from_server(place: int, length: int) -> None:
    session.from_server(ctypes.string_at(place, length))


readers = (Reader(from_client), Reader(from_server)) if how == "session" else (Reader(), Reader())
gc.collect()
gc.freeze()
run = ctypes.PyDLL(core).run
run.argtypes, run.restype = (ctypes.c_int, ctypes.c_int, ctypes.c_int, Reader, Reader), None
run(process.stdin.fileno(), process.stdout.fileno(), int(how == "walk"), *readers)
