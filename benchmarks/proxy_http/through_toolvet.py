"""The proxy with everything on, its record and metrics included. `through_toolvet.py PORT UPSTREAM_PORT`."""

import sys
import tempfile
from pathlib import Path

from toolvet.proxy.http.serve import run_http
from toolvet.proxy.record.sinks import Recording, recorder_of
from toolvet.session import Policies

with (
    tempfile.TemporaryDirectory() as folder,
    recorder_of(Recording(store=Path(folder) / "record.jsonl", metrics="on")) as recorder,
):
    run_http(f"http://127.0.0.1:{sys.argv[2]}/mcp", f"127.0.0.1:{sys.argv[1]}", Policies(), recorder)
