"""Takes the place of `toolvet`: runs it, hands on what it reads and prints, and keeps both with the times.

python watched_hook.py RECORD TOOLVET hook claude
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

record, *words = sys.argv[1:]
given = sys.stdin.buffer.read()
begin = time.perf_counter()
hook = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
printed, _ = hook.communicate(given)
seconds = time.perf_counter() - begin
times = os.times()
line = {
    "event": json.loads(given or b"null"),
    "answer": json.loads(printed or b"null"),
    "code": hook.returncode,
    "seconds": seconds,
    "cpu": times.children_user + times.children_system,
}
with Path(record).open("a", encoding="utf-8") as file:
    file.write(json.dumps(line) + "\n")
sys.stdout.buffer.write(printed)
sys.stdout.flush()
sys.exit(hook.returncode)
