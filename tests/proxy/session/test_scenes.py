"""The steps of a session in many small scenes, under each value of each policy, to the byte.

The scenes are `SCENES`; what follows from each turn is kept in `scenes.txt`, which people read: a line for each step,
with what is sent and noted, shortened to its beginning and a digest of all of it. Under a setting there are only the
lines that differ, and no scene in which none does.

After a change that is meant, read what moved: `TOOLVET_UPDATE_SNAPSHOTS=1 pytest tests/proxy/session/test_scenes.py`.
"""

import json
import os
from collections.abc import Callable, Iterator, Mapping
from difflib import SequenceMatcher
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.proxy.session.scene_settings import SETTINGS
from tests.proxy.session.scenes import SCENES, Turn

from toolvet.mcp.wire import Request, parse, read_start
from toolvet.proxy.session import Catalogue, Policies, ProxySettings, Session, Step, ToClient, ToServer
from toolvet.proxy.session.step import CallEnded

KEPT = Path(__file__).parent / "scenes.txt"
SHOWN = 90


def digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:8]


def shown(value: object) -> str:
    """The beginning of this value as JSON, and a digest of all of it if it is longer."""
    text = value.decode("utf-8", "replace") if isinstance(value, bytes) else json.dumps(value, default=str)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}… {len(text)} {digest(text)}"


def told(step: Step, said: bytes) -> str:
    if isinstance(step, ToServer | ToClient):
        way = "->" if isinstance(step, ToServer) else "<-"
        about = "" if step.about is None else f" about {step.about!r}"
        return f"  {way} {'same' if said is step.data else shown(step.data)}{about}"
    if isinstance(step, CallEnded):
        found = [step.outcome, f"{step.size} bytes", step.blocked, step.would_block, *step.changed, step.why[:60]]
        about = ", ".join(str(each) for each in found if each)
        kept = [step.to_dict(), sorted(step.mask.secrets)]
        return f"  note call {step.call} of {step.tool!r} ended: {about}; {digest(json.dumps(kept, default=str))}"
    return f"  note {shown({'kind': type(step).__name__, **msgspec.structs.asdict(step)})}"


class Stage:
    """A session, and the steps that follow from each message."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        policies = Policies(msgspec.convert(settings, ProxySettings))
        self.session = Session(policies, Catalogue())
        self.lines: list[str] = [f"  requires a record: {policies.requires_record}"] if policies.requires_record else []

    def play(self, turn: Turn) -> None:
        said = turn.data
        self.lines += [f"{turn.who} {shown(said)}", *self.after(turn.who, said)]
        session = self.session
        self.lines.append(f"  watches {session.only_watches:d}, hands on {session.unread.hands_on(said):d}")

    def after(self, who: str, said: bytes) -> Iterator[str]:
        session = self.session
        if who == "long C":
            start = read_start(said)
            yield f"  passes: {session.unread.passes_to_server(start)}"
            request = parse(said)
            assert isinstance(request, Request)
            steps = session.take_unread_call(request, 1 << 20)
        elif who == "long S":
            start = read_start(said[: said.index(b"~")])
            yield f"  passes: {session.unread.passes_to_client(start)}"
            steps = list[Step](session.unread.end_answer(start.id, 1 << 20) if start.id is not None else [])
        else:
            feeds: dict[str, Callable[[bytes], list[Step]]] = {
                "C": session.from_client,
                "S": session.from_server,
                "F": session.fail,
                "G": lambda data: session.give_up(data.decode()),
                "E": lambda _: session.close(),
            }
            steps = feeds[who](said)
        for step in steps:
            yield told(step, said)


def transcript(scene: str, settings: Mapping[str, Any]) -> list[str]:
    stage = Stage(settings)
    for turn in SCENES[scene]:
        stage.play(turn)
    return stage.lines


def everything() -> dict[str, list[str]]:
    """The transcript of each scene, under no setting, and under each that makes a difference."""
    found: dict[str, list[str]] = {}
    for scene in SCENES:
        plain = found[scene] = transcript(scene, {})
        for name, settings in SETTINGS.items():
            lines = transcript(scene, settings)
            if lines != plain:
                found[f"{scene} | {name}"] = changed(plain, lines)
    return found


def changed(plain: list[str], lines: list[str]) -> list[str]:
    """The lines that come under a setting, each group behind the place where others stand without it."""
    found: list[str] = []
    for kind, begin, end, first, last in SequenceMatcher(None, plain, lines, autojunk=False).get_opcodes():
        if kind != "equal":
            found += [f"@ {begin + 1}, instead of {end - begin}", *lines[first:last]]
    return found


def parts(text: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in text.splitlines():
        if line.startswith("== "):
            lines = found[line[3:]] = []
        elif line:
            lines.append(line)
    return found


@pytest.fixture(scope="module")
def scenes() -> dict[str, list[str]]:
    found = everything()
    if os.environ.get("TOOLVET_UPDATE_SNAPSHOTS"):
        written = "\n".join("\n".join([f"== {name}", *lines, ""]) for name, lines in found.items())
        KEPT.write_text(written, encoding="utf-8")
    return found


def test_every_scene_goes_as_it_was_kept(scenes: dict[str, list[str]]) -> None:
    kept = parts(KEPT.read_text(encoding="utf-8"))
    assert [name for name in {**kept, **scenes} if name not in kept or name not in scenes] == []
    moved = {name: (lines, kept[name]) for name, lines in scenes.items() if lines != kept[name]}
    for name, (now, before) in moved.items():
        assert now == before, name


def test_every_setting_makes_a_difference_somewhere(scenes: dict[str, list[str]]) -> None:
    named = {name.partition(" | ")[2] for name in scenes}
    assert set(SETTINGS) - named == set()
