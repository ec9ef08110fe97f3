"""Every conversation beside this file (`*.conversation`) goes as it is written: who says what, and what follows.

    == A bad call is answered, and never sent          a title: the name of the test
    | repair = "off"                                    a line of `[proxy]` settings
    C {"id": 1, "method": "ping"}                       the client says (S: the server, G: the driver gives up on an id)
      -> same                                           the server gets the very bytes
      <- {"id": 1, "result": {"...": 0, "isError": true}}   the client gets this JSON; "..." allows for further members
      note call_ended outcome=refused                   the record receives it; other notes need not be listed

A message gets `"jsonrpc": "2.0"` if it has none; `"*"` stands for any value, `"~part"` for a text with that part.
A line that ends with a backslash goes on in the next one. `$tools` and the like stand for the definitions of the file:
`$name = {…}` at its top.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from toolvet.proxy.session import Catalogue, Note, Policies, ProxySettings, Session, Step, ToClient, ToServer


class Turn(msgspec.Struct):
    """One message, and the steps that must follow."""

    line: int
    who: str
    said: str
    expected: list[str]


class Conversation(msgspec.Struct):
    """A title, settings, and turns."""

    title: str
    settings: str
    turns: list[Turn]


def conversations(path: Path) -> Iterator[Conversation]:
    """Those of one file."""
    names: dict[str, str] = {}
    found: Conversation | None = None
    for number, line in _lines(path.read_text(encoding="utf-8")):
        for name, value in names.items():
            line = line.replace(name, value)  # noqa: PLW2901 - what the abbreviations mean
        if not line.strip() or line.startswith("#"):
            continue
        if line.startswith("$"):
            name, _, value = line.partition(" = ")
            names[name] = value
        elif line.startswith("== "):
            if found is not None:
                yield found
            found = Conversation(line[3:], "", [])
        elif found is None:
            raise ValueError(f"{path.name}, line {number}: no title yet")
        elif line.startswith("| "):
            found.settings += line[2:] + "\n"
        elif line[0] in "CSG":
            found.turns.append(Turn(number, line[0], line[2:].strip(), []))
        else:
            assert line.startswith(("  ->", "  <-", "  note ")), f"{path.name}, line {number}: {line}"
            found.turns[-1].expected.append(line.strip())
    if found is not None:
        yield found


def play(conversation: Conversation, path: Path) -> None:
    """Say it all, and compare what is done with what is expected."""
    settings = msgspec.toml.decode(conversation.settings, type=ProxySettings)
    session = Session(Policies(settings), Catalogue())
    for turn in conversation.turns:
        where = f"{path.name}:{turn.line}: {turn.who} {turn.said[:90]}"
        if turn.who == "G":
            steps, data = session.give_up(turn.said), b""
        else:
            data = spoken(turn.said)
            steps = session.from_client(data) if turn.who == "C" else session.from_server(data)
        compare(steps, data, turn.expected, where)


def spoken(said: str) -> bytes:
    """The bytes of a message: as written, but with its version."""
    if said.startswith("{") and '"jsonrpc"' not in said:
        said = '{"jsonrpc": "2.0", ' + said[1:].lstrip()
    return said.encode()


def compare(steps: list[Step], data: bytes, expected: list[str], where: str) -> None:
    """Messages must be all there are, in order; notes must be among those there are, in order."""
    messages = [step for step in steps if not isinstance(step, Note)]
    notes = [step for step in steps if isinstance(step, Note)]
    wanted = [line for line in expected if line[:2] in ("->", "<-")]
    told = "\n".join(map(str, steps))
    assert len(messages) == len(wanted), f"{where}\n{told}"
    for message, line in zip(messages, wanted, strict=True):
        kind = ToServer if line.startswith("->") else ToClient
        assert isinstance(message, kind), f"{where}\nexpected {line}, got {message}"
        body = line[2:].strip()
        if body == "same":
            assert message.data is data, f"{where}\nnot the same bytes: {message.data!r}"
        else:
            problem = difference(json.loads(spoken(body)), json.loads(message.data), "")
            assert problem is None, f"{where}\n{problem}\n{message.data.decode()}"
    left = iter(notes)
    for line in expected:
        if line.startswith("note "):
            _, event, *fields = re.findall(r"\S+=\"[^\"]*\"|\S+", line)
            assert any(_is_note(note, event, fields) for note in left), f"{where}\nno {line}\n{told}"


def difference(wanted: object, found: object, at: str) -> str | None:
    """Where `found` differs from the expectation; None if it does not."""
    if wanted == "*":
        return None
    if isinstance(wanted, str) and wanted.startswith("~"):
        return None if isinstance(found, str) and wanted[1:] in found else f"{at}: {wanted[1:]!r} is not in {found!r}"
    if isinstance(wanted, dict) and isinstance(found, dict):
        is_open = "..." in wanted
        keys = [key for key in wanted if key != "..."]
        if not is_open and set(keys) != set(found):
            return f"{at}: members {sorted(found)} instead of {sorted(keys)}"
        missing = [key for key in keys if key not in found]
        if missing:
            return f"{at}: no {missing}"
        return next((told for key in keys if (told := difference(wanted[key], found[key], f"{at}/{key}"))), None)
    if isinstance(wanted, list) and isinstance(found, list):
        if len(wanted) != len(found):
            return f"{at}: {len(found)} items instead of {len(wanted)}"
        return next(
            (told for i, one in enumerate(wanted) if (told := difference(one, found[i], f"{at}/{i}"))),
            None,
        )
    return None if wanted == found and type(wanted) is type(found) else f"{at}: {found!r} instead of {wanted!r}"


def _is_note(note: Note, event: str, fields: list[str]) -> bool:
    said = note.to_dict()
    pairs = [field.partition("=") for field in fields]
    return said["event"] == event and all(_shown(said.get(name)) == value.strip('"') for name, _, value in pairs)


def _shown(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))


def _lines(text: str) -> Iterator[tuple[int, str]]:
    kept, start = "", 0
    for number, line in enumerate(text.splitlines(), 1):
        start = start if kept else number
        if line.endswith("\\"):
            kept += line[:-1].lstrip() if kept else line[:-1]
            continue
        yield start, kept + (line.lstrip() if kept else line)
        kept = ""


HERE = Path(__file__).parent
ALL = [(path, each) for path in sorted(HERE.glob("*.conversation")) for each in conversations(path)]


@pytest.mark.parametrize(("path", "each"), ALL, ids=[f"{path.stem}: {each.title}" for path, each in ALL])
def test_the_conversation_goes_as_it_is_written(path: Path, each: Conversation) -> None:
    play(each, path)


def test_there_are_conversations_of_both_eras() -> None:
    said = "".join(path.read_text() for path in HERE.glob("*.conversation"))
    assert "2026-07-28" in said
    assert "2025-06-18" in said
