"""A program: the proxy over stdio. `$SETTINGS` is the `[proxy]` part as JSON, `$STORE` its store."""

import os
import sys

import msgspec

from toolvet.errors import ToolvetError
from toolvet.proxy.record.recording import Recording, recorder_of
from toolvet.proxy.session import Policies, ProxySettings
from toolvet.proxy.stdio.loop import run_stdio

settings = msgspec.json.decode(os.environ.get("SETTINGS", "{}"), type=ProxySettings)
with recorder_of(Recording(store=os.environ.get("STORE"))) as recorder:
    try:
        code = run_stdio(sys.argv[1:], None, None, Policies(settings), recorder)
    except ToolvetError as error:
        sys.exit(str(error))
sys.exit(code)
