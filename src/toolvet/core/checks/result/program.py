"""Whose code a traceback is: the caller's, in a tool that runs programs, or the tool's own."""

import re
from collections.abc import Sequence
from typing import Final

_OPENING: Final = "Traceback (most recent call last)"
_LONGEST_READ: Final = 20_000
# `  File "a.py", line 3, in f`, and the line of code that Python shows below it.
_FRAME: Final = re.compile(
    r"^ *File \"([^\"\n]{1,300})\", line \d{1,7}[^\n]{0,200}(?:\n {2,}([^\n]{1,300}))?", re.MULTILINE
)
# Names that interpreters give to code that came as a text.
_UNNAMED: Final = re.compile(
    r"<(?:string|stdin|input|exec|eval|cell|code|module|unknown|ipython-input|user)|/ipykernel_\d|<python-input"
)
_CELL: Final = re.compile(
    r"^(?:Cell|Input|File) In ?\[\d{1,5}\]|^\[eval\]:\d|\bat \[eval\]|\bevalmachine\.<anonymous>", re.MULTILINE
)
_SHORTEST_CODE: Final = 4
_MOST_PROGRAMS: Final = 10
_MOST_FRAMES: Final = 30
_OWN_TRACE: Final = re.compile(r"^\s+at .{0,300}node_modules", re.MULTILINE)


def is_callers_crash(text: str, sent: Sequence[str]) -> bool:
    r"""Whether a crash that a program tool reports is one of the code that its caller sent.

    Where a program was `sent` it is, unless a traceback shows no frame of that program, nor of a file that it names.
    Where nothing is known of what was sent, the innermost frame must be in code without a file (`<string>`, a
    notebook's cell).

    >>> is_callers_crash('Traceback (most recent call last):\n  File "<string>", line 1\nNameError: x', [])
    True
    >>> is_callers_crash('Traceback (most recent call last):\n  File "/app/a.py", line 7\nNameError: x', ["y + 1"])
    False
    """
    read = text[-_LONGEST_READ:]
    if _CELL.search(read) is not None:
        return True
    programs = [value[:_LONGEST_READ] for value in sent[:_MOST_PROGRAMS] if len(value) >= _SHORTEST_CODE]
    frames = _FRAME.findall(read, max(0, read.rfind(_OPENING)))[-_MOST_FRAMES:]
    if not frames:
        return bool(programs) and _OWN_TRACE.search(read) is None
    if _UNNAMED.match(frames[-1][0]) is not None:
        return True
    return bool(programs) and any(_is_of(programs, file, line.strip()) for file, line in frames)


def _is_of(programs: Sequence[str], file: str, line: str) -> bool:
    """Whether a frame is in one of the programs, or in a file that one of them runs."""
    if _UNNAMED.match(file) is not None:
        return True
    name = file.replace("\\", "/").rpartition("/")[2]
    return any((len(line) >= _SHORTEST_CODE and line in program) or name in program for program in programs)
