"""Plain English, everywhere a person reads: no habit of `data/prose.toml` in docs, docstrings, comments or messages.

Read a hit in its sentence, and rewrite the sentence: swapping a word does not make it plain.
"""

import io
import os
import re
import tokenize
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

ROOT: Final = Path(__file__).parent.parent
HABITS: Final[list[dict[str, Any]]] = tomllib.loads((ROOT / "tests/data/prose.toml").read_text())["habit"]
_PATTERNS: Final = [re.compile(habit["match"], 0 if habit.get("same_case") else re.IGNORECASE) for habit in HABITS]
# Evidence, not prose: texts that phrases and checks are proved with, in other languages too, and kept output.
_DATA: Final = {"languages", "packs", "patterns", "snapshots", "kept", "errors", "refusals", "data", "corpus"}
# History, and a page that quotes the answers of models.
_QUOTES: Final = {"CHANGELOG.md", "docs/accuracy.md"}
_TEXT: Final = {".md", ".jinja", ".html", ".toml", ".yml", ".js", ".mjs", ".css", ".c", ".conversation", ""}
_PYTHON: Final = {".py", ".pyi"}
_PROOF: Final = re.compile(r"(?:hits|misses|answers?|fails|match|patterns|allow) *= *(\[?)")
_MARKER: Final = re.compile(r"# ?(?:noqa|type:|pyright|ruff)")
_STARTS: Final = {tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING}
_MIDDLE: Final = getattr(tokenize, "FSTRING_MIDDLE", -1)  # Since Python 3.12.


def _files() -> Iterator[Path]:
    for folder, folders, names in os.walk(ROOT):
        folders[:] = [name for name in folders if name[0] not in "._" and name not in {*_DATA, "build", "dist"}]
        for name in names:
            path = Path(folder, name)
            if path.suffix in _TEXT | _PYTHON and str(path.relative_to(ROOT)) not in _QUOTES:
                yield path


def _of_python(source: str, *, is_test: bool) -> Iterator[tuple[int, str]]:
    """The lines of docstrings and comments, and of other strings; those of a test are data."""
    before = tokenize.ENCODING
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        is_prose = (token.type == tokenize.COMMENT and not _MARKER.match(token.string)) or (
            token.type in {tokenize.STRING, _MIDDLE} and (not is_test or before in _STARTS)
        )
        if is_prose:
            yield from enumerate(token.string.splitlines(), token.start[0])
        if token.type not in {tokenize.COMMENT, tokenize.NL}:
            before = token.type


def _of_text(source: str, *, is_toml: bool) -> Iterator[tuple[int, str]]:
    """The lines without blocks of code, and without the proofs of a TOML file."""
    skipping = ""
    for number, line in enumerate(source.splitlines(), 1):
        if skipping:
            skipping = "" if line.lstrip().startswith(skipping) else skipping
        elif line.lstrip().startswith("```"):
            skipping = "```"
        elif is_toml and (proof := _PROOF.match(line)):
            skipping = "]" if proof[1] and "]" not in line else ""
        else:
            yield number, line


def _found(path: Path) -> Iterator[str]:
    source = path.read_text(encoding="utf-8", errors="replace")
    folded = source.lower()
    likely = [index for index, habit in enumerate(HABITS) if any(word in folded for word in habit["words"])]
    if not any(_PATTERNS[index].search(line) for index in likely for line in source.splitlines()):
        return
    name = path.relative_to(ROOT)
    is_test = name.parts[0] == "tests"
    if path.suffix in _PYTHON:
        lines = _of_python(source, is_test=is_test)
    else:
        lines = _of_text(source, is_toml=path.suffix == ".toml")
    for number, line in lines:
        words = re.sub(r"`[^`]*`", "`x`", line)
        for index in likely:
            if _PATTERNS[index].search(words):
                yield f"{name}:{number}: {line.strip()[:120]}\n    {HABITS[index]['say']}"


def test_prose_is_plain() -> None:
    assert not (found := [hit for path in _files() for hit in _found(path)]), "\n".join(["", *found])


@pytest.mark.parametrize(("habit", "pattern"), list(zip(HABITS, _PATTERNS, strict=True)))
def test_each_habit_has_its_proof(habit: dict[str, Any], pattern: re.Pattern[str]) -> None:
    assert all(pattern.search(hit) and any(word in hit.lower() for word in habit["words"]) for hit in habit["hits"])
    assert not [miss for miss in habit["misses"] if pattern.search(miss)]
