"""The proxy, as a user runs it. `through_toolvet.py PORT UPSTREAM_PORT [STORE]`: with a store, with metrics as well."""

import sys

from toolvet.proxy.http.serve import run_http
from toolvet.proxy.record.recording import Recording, recorder_of
from toolvet.proxy.session import Policies

port, upstream, *store = sys.argv[1:]
recording = Recording(store=store[0], metrics="on") if store else Recording()
with recorder_of(recording) as recorder:
    run_http(f"http://127.0.0.1:{upstream}/mcp", f"127.0.0.1:{port}", Policies(), recorder)
