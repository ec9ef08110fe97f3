"""The behaviour of the tests' judging processes on odd texts; it is loaded by `sitecustomize`.

- "deadly": the process ends.
- "murderous": the worker that started the process is killed, if it is one of a cluster's.
- "waits": the process says in a file which worker it belongs to, and waits until a file `go` is there.
"""

import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

from toolvet import AnswerCheck

FOLDER = Path(__file__).parent
judged = AnswerCheck.__call__


def judge(self: AnswerCheck, text: Any, **more: Any) -> Any:
    if "deadly" in (text or ""):
        os._exit(9)
    if "murderous" in (text or ""):
        with (FOLDER / "murders").open("a") as file:
            file.write(f"{os.getppid()}\n")
        if b"toolvet" not in Path(f"/proc/{os.getppid()}/cmdline").read_bytes():
            os.kill(os.getppid(), signal.SIGKILL)
    if "waits" in (text or "") and not (FOLDER / "go").exists():
        new = FOLDER / f"new-{os.getpid()}"
        new.write_text(f"{os.getppid()}", encoding="ascii")
        new.replace(FOLDER / f"reached-{os.getpid()}")
        while not (FOLDER / "go").exists():
            time.sleep(0.01)
    return judged(self, text, **more)


if "toolvet.batch.process" in sys.orig_argv:
    AnswerCheck.__call__ = judge  # type: ignore[method-assign]
