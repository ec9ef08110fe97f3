"""A program: the proxy over stdio. `$SETTINGS` is the `[proxy]` part as JSON, `$STORE` its store."""

import os
import sys

import msgspec

from toolvet.errors import ToolvetError
from toolvet.proxy.record.background import WhenFull
from toolvet.proxy.record.recording import Recording, recorder_of
from toolvet.proxy.session import Policies, ProxySettings
from toolvet.proxy.stdio.loop import run_stdio

settings = msgspec.json.decode(os.environ.get("SETTINGS", "{}"), type=ProxySettings)
policies = Policies(settings)
when_full: WhenFull = "wait" if policies.requires_record else "drop"
with recorder_of(Recording(store=os.environ.get("STORE"), when_full=when_full)) as recorder:
    try:
        code = run_stdio(sys.argv[1:], None, None, policies, recorder)
    except ToolvetError as error:
        sys.exit(str(error))
sys.exit(code)
