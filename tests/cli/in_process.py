"""`toolvet check …` in the process of the test."""

import io
import sys
from typing import NamedTuple

import pytest

from toolvet.cli import run


class Done(NamedTuple):
    returncode: int
    stdout: str
    stderr: str


def check(*words: str, given: str = "") -> Done:
    """Run `toolvet check`: starting a process for each case would take minutes."""
    out, err = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.StringIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given.encode()), "utf-8"))
        patch.setattr(sys, "stdout", out)
        patch.setattr(sys, "stderr", err)
        code = run(["check", *words])
        out.flush()
    return Done(code, out.buffer.getvalue().decode(), err.getvalue())
