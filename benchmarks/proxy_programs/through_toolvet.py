"""`run_stdio` with everything on (or, with `$DEFAULTS`, the default policies) and a record in the file `$RECORD`."""

import os
import sys
from pathlib import Path

from toolvet.proxy.record.recording import Recording, recorder_of
from toolvet.proxy.session import Policies, ProxySettings
from toolvet.proxy.stdio.loop import run_stdio

record = os.environ.get("RECORD")
everything = ProxySettings(
    arguments="enforce",
    repair="apply",
    results="enforce",
    output_schema="enforce",
    verdict="always" if os.environ.get("VERDICT") else "on_request",
)
with recorder_of(Recording(store=Path(record) if record else None)) as recorder:
    policies = Policies(None if os.environ.get("DEFAULTS") else everything)
    code = run_stdio(sys.argv[1:], None, None, policies, recorder)
sys.exit(code)
