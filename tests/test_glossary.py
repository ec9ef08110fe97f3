"""GLOSSARY.md has exactly one line for every public class, and no class name stands for two things."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "toolvet"
LINE = re.compile(r"- `(?P<name>\w+)`: (?P<words>\S.*)")

# One adapter for each framework, and each named as its framework's users expect to find it: a user imports one of
# them and never sees the other.
ONE_PER_FRAMEWORK = {"ProxyMiddleware", "ToolValidationMiddleware"}


class Definition(NamedTuple):
    name: str
    room: str
    file: str
    words: str


def definitions() -> Iterator[Definition]:
    for file in sorted(PACKAGE.rglob("*.py")):
        inside = file.relative_to(PACKAGE)
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                words = (ast.get_docstring(node) or "").partition("\n\n")[0].replace("\n", " ")
                yield Definition(node.name, inside.parts[0].removesuffix(".py"), inside.as_posix(), words)


def listed() -> Iterator[tuple[str, str, int]]:
    """(room, class, line number) of every entry under a heading `## room`."""
    room = ""
    for number, line in enumerate((ROOT / "GLOSSARY.md").read_text(encoding="utf-8").splitlines(), start=1):
        if line.startswith("## "):
            room = line.removeprefix("## ").strip("`")
        elif room != "Words" and (entry := LINE.fullmatch(line)):
            yield room, entry["name"], number


def test_every_public_class_has_one_line_under_its_room() -> None:
    """Fails with the lines to add and to remove; put an added line into words that a newcomer understands."""
    public = {(each.room, each.name): each for each in definitions() if not each.name.startswith("_")}
    entries = list(listed())
    named = [(room, name) for room, name, _ in entries]
    missing = [
        f"add under `## {room}`:  - `{name}`: {each.words}"
        for (room, name), each in sorted(public.items())
        if (room, name) not in named
    ]
    stale = [
        f"remove line {number}: there is no class {name} in {room}"
        for room, name, number in entries
        if (room, name) not in public
    ]
    twice = [
        f"remove line {number}: {name} has a line already"
        for position, (room, name, number) in enumerate(entries)
        if (room, name) in named[:position]
    ]
    assert not missing + stale + twice, "GLOSSARY.md is out of date:\n" + "\n".join(missing + stale + twice)


def test_the_lines_of_a_room_are_in_alphabetical_order() -> None:
    by_room: dict[str, list[str]] = defaultdict(list)
    for room, name, _ in listed():
        by_room[room].append(name)
    assert list(by_room) == sorted(by_room)
    for room, names in by_room.items():
        assert names == sorted(names, key=str.lower), f"sort the lines under ## {room}"


def test_no_class_name_stands_for_two_things() -> None:
    files: dict[str, list[str]] = defaultdict(list)
    for each in definitions():
        files[each.name.lstrip("_")].append(each.file)
    for name, places in sorted(files.items()):
        if name in ONE_PER_FRAMEWORK:
            assert all(place.startswith("integrations/") for place in places)
            assert len(places) == len(set(places))
            continue
        assert len(places) == 1, f"the class name {name} stands for {len(places)} things: {', '.join(places)}"
