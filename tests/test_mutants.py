"""The runner of `make mutants`: it kills what a test notices, and reports what none does, on a toy of one room."""

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest
from benchmarks.mutants.mutation import find_mutations
from benchmarks.mutants.room import ROOT, read_rooms

TOY = '''
from functools import cache

LIMIT = 3


@cache
def table() -> dict[str, int]:
    return {"a": 1 + 1}


def is_many(count: int) -> bool:
    """Docstrings are not changed."""
    return count > LIMIT


def first(words: list[str]) -> str:
    for word in words:
        if word == "stop":
            break
    while words and not words[0]:
        words = words[1:]
    return words[0] if words else f"no word of {len(words)}"


def never(count: int) -> int:
    return count + 7
'''
TESTS = """
from toy import first, is_many, table


def test_many():
    assert is_many(4)
    assert not is_many(3)


def test_table():
    assert table() == {"a": 2}


def test_first():
    assert first(["", "a"]) == "a"
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the runner forks")
def test_it_kills_what_a_test_notices_and_reports_what_none_does(tmp_path: Path) -> None:
    (tmp_path / "toy.py").write_text(TOY, encoding="utf-8")
    (tmp_path / "test_toy.py").write_text(TESTS, encoding="utf-8")
    (tmp_path / "conftest.py").write_text("", encoding="utf-8")
    table = tmp_path / "rooms.toml"
    table.write_text('[toy]\nfiles = ["toy.py"]\ntests = ["test_toy.py"]\npackage = "toy"\n', encoding="utf-8")
    words = [sys.executable, "-m", "benchmarks.mutants", "--table", str(table), "--sample", "0"]
    ran = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=170, check=False)
    report = json.loads((tmp_path / ".mutants" / "toy-1.json").read_text(encoding="utf-8"))
    found = {(row["before"], row["after"]): row["outcome"] for row in report["trials"]}
    assert found["3", "4"] == "killed", "a constant, by an import of its own"
    assert found["1 + 1", "1 - 1"] == "killed", "behind a cache"
    assert found["count > LIMIT", "count >= LIMIT"] == "killed", "a boundary"
    assert found["word == 'stop'", "word != 'stop'"] == "survived"
    assert found["count + 7", "count - 7"] == "unreached"
    assert ran.returncode == 1, "below the floor"
    line = 1 + TOY[: TOY.index("return count + 7")].count("\n")
    assert f"toy.py:{line}: never: count + 7 → count - 7 (no test reaches it)" in ran.stdout
    assert ran.stdout.splitlines()[-1].startswith("toy: ")


def test_wording_annotations_and_docstrings_are_left_out() -> None:
    source = '''
"""A docstring of 5."""
import logging
from typing import Final, Literal
__all__ = ["a"]
Kind = Literal["a", "b"]
SHOWN: Final = "wording"

@dataclass(frozen=True)
class A:
    limit: int = 5

    def say(self, count: "int | None" = None) -> str:
        """Wording."""
        assert count != 3
        logging.warning("%d", count + 1)
        if count in {"a"} and self.names["b"]:
            raise ValueError(f"{count + 1}", 5)
        return f"{count + 1} words"
'''
    found = [(one.before, one.after) for one in find_mutations(Path("a.py"), source)]
    assert found == [
        ("5", "6"),
        ("count in {'a'} and self.names['b']", "count in {'a'} or self.names['b']"),
        ("count in {'a'}", "count not in {'a'}"),
        ("'a'", "'XXaXX'"),
        ("'b'", "'XXbXX'"),
        ("raise ValueError(f'{count + 1}', 5)", "pass"),
        ("return f'{count + 1} words'", "return None"),
    ]


def test_a_mutant_keeps_its_name_and_its_place_in_the_sample_when_lines_move() -> None:
    source = "def f(a):\n    return a < 5 or a < 5\n"
    here, there = (find_mutations(Path("a.py"), text) for text in (source, "\n\n" + source))
    assert [one.id for one in here] == [one.id for one in there]
    assert len({one.id for one in here}) == len(here)
    assert [one.order(1) for one in here] == [one.order(1) for one in there] != [one.order(2) for one in here]
    assert [one.line for one in there] == [one.line + 2 for one in here]
    assert ast.unparse(here[0].apply()) != ast.unparse(ast.parse(source))


def test_every_room_has_files_and_tests() -> None:
    for room in read_rooms().values():
        assert room.files, room.name
        assert room.tests, room.name


@pytest.mark.skipif(sys.platform != "linux", reason="the runner forks")
def test_a_fault_in_what_our_own_package_computes_at_import_is_noticed() -> None:
    # Our plugin for pytest is in this package, and pytest would load all of it in its own way.
    tried = """
from benchmarks.mutants.room import read_rooms
from benchmarks.mutants.trial import judge

room = read_rooms()["guard"]
outcomes, _ = judge(room, [each for each in room.mutations() if not each.function][:1], str)
print(*(outcome.kind for outcome in outcomes))
"""
    words = [sys.executable, "-c", tried]
    ran = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=170, check=False)
    assert ran.stdout.split() == ["killed"], ran.stderr
