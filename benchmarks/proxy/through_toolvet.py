"""`run_stdio` with everything on: the strictest policies, and a record in the file `$RECORD`."""

import os
import sys
from pathlib import Path

from toolvet.proxy.record.sinks import Recording, recorder_of
from toolvet.proxy.stdio.loop import run_stdio
from toolvet.session import Policies, ProxySettings

record = os.environ.get("RECORD")
everything = ProxySettings(
    arguments="enforce",
    repair="apply",
    results="enforce",
    output_schema="enforce",
    verdict="always" if os.environ.get("VERDICT") else "on_request",
)
with recorder_of(Recording(store=Path(record) if record else None)) as recorder:
    code = run_stdio(sys.argv[1:], None, None, Policies(everything), recorder)
sys.exit(code)
