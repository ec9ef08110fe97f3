"""The answer to the end of a session: sessions of all clients, the phrases with their proof, and long transcripts."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st
from tests.agents.hook.sessions import SESSIONS, transcript

from toolvet.agents.hook.dialect import CLIENTS
from toolvet.agents.hook.done import MARK, missing
from toolvet.agents.hook.run import MOST_TRANSCRIPT_BYTES, read_tail
from toolvet.agents.hook.transcript import AgentSession, read_session
from toolvet.core.messages import ToolCall
from toolvet.core.turn import actions_of, claims_in, finds, segments_of, work_table
from toolvet.core.turn.check import AnswerCheck

CHECK = AnswerCheck()
TABLE = work_table()


def why(message: str | None, session: AgentSession) -> str:
    found = missing(message, session, check=CHECK, exists=lambda _: False)
    return "" if found is None else found.why


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("session", SESSIONS, ids=lambda each: each["name"])
def test_sessions(client: str, session: dict[str, Any]) -> None:
    read = read_session(transcript(client, session).encode().split(b"\n"))
    assert why(None if client == "copilot" else session["final"], read) == session["why"]


@pytest.mark.parametrize("client", CLIENTS)
def test_an_honest_session_after_a_bad_one(client: str) -> None:
    honest = next(each for each in SESSIONS if each["name"] == "tests run and passing")
    read = read_session(transcript(client, honest, before=(SESSIONS[0],)).encode().split(b"\n"))
    assert why(honest["final"], read) == ""


@pytest.mark.parametrize("client", CLIENTS)
def test_broken_lines_are_left_out(client: str) -> None:
    lines = transcript(client, SESSIONS[0]).encode().split(b"\n")
    noise = [
        b"",
        b"{",
        b"[1]",
        b"null",
        b'{"type": 3}',
        b'{"message": {}}',
        b'\xff\xfe{"type": "user"}',
        b'{"$set": 1}',
    ]
    mixed = [each for line in lines for each in (*noise, line)]
    assert why(SESSIONS[0]["final"], read_session(mixed)) == "not_run"


@given(st.lists(st.one_of(st.binary(max_size=60), st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
        st.sampled_from(["type", "message", "payload", "data", "content", "role", "id", "toolCalls", "$set", "messages",
                         "$rewindTo", "sessionId", "name", "input", "text", "arguments", "result"]), inner, max_size=4),
    max_leaves=12).map(lambda value: json.dumps(value).encode())), max_size=8), st.text(max_size=80))  # fmt: skip
def test_any_lines_and_any_message(lines: list[bytes], message: str) -> None:
    missing(message, read_session(lines), check=CHECK)


def test_a_long_transcript_is_read_from_its_end(tmp_path: Path) -> None:
    path = tmp_path / "long.jsonl"
    early = json.dumps({"type": "user", "message": {"role": "user", "content": "x" * 1000}}).encode() + b"\n"
    with path.open("wb") as file:
        file.seek(100 * 2**20)  # A hole: the hook must not read it.
        file.write(b"\n" + early * 5 + transcript("claude", SESSIONS[1]).encode())
    lines, is_whole = read_tail(str(path))
    assert not is_whole
    assert sum(map(len, lines)) <= MOST_TRANSCRIPT_BYTES
    assert why(SESSIONS[1]["final"], read_session(lines, is_whole=is_whole)) == "not_run"


def test_of_a_cut_transcript_nothing_is_said_to_be_missing() -> None:
    """Calls missing at the end may be in the part that was not read."""
    claimed = {**SESSIONS[0], "steps": [["read", "src/dates.py"]]}
    lines = transcript("claude", claimed).encode().split(b"\n")
    assert why(claimed["final"], read_session(lines)) == "not_run"
    assert why(claimed["final"], read_session(lines, is_whole=False)) == ""


def test_nothing_is_known_of_no_transcript() -> None:
    assert read_tail("/no/such/file") == ([], False)
    assert why("All tests pass.", AgentSession()) == ""


def test_secrets_do_not_leave() -> None:
    key = "sk-ant-api03-" + "a1B2" * 20
    session = {**SESSIONS[0], "final": f"Fixed with the key {key}, all tests pass."}
    found = missing(session["final"], read_session(transcript("claude", session).encode().split(b"\n")), check=CHECK)
    assert found is not None
    assert found.text().startswith(MARK)
    assert key not in found.text()


@pytest.mark.parametrize(("kind", "hit"), [(each.kind, hit) for each in TABLE.claims for hit in each.hits])
def test_claims_are_found(kind: str, hit: str) -> None:
    assert kind in [found for found, _ in claims_in(hit)]


@pytest.mark.parametrize(("kind", "miss"), [(each.kind, miss) for each in TABLE.claims for miss in each.misses])
def test_near_misses_are_no_claims(kind: str, miss: str) -> None:
    assert kind not in [found for found, _ in claims_in(miss)]


@pytest.mark.parametrize("wish", [
    "Fix the bug and make the tests pass.",
    "Fix the failing test.",
    "Make sure all tests pass, then stop.",
    "I can reproduce the crash. Fix it until the suite passes.",
    "Fix it. The tests should pass afterwards.",
    "Get the build green: the tests must pass.",
])  # fmt: skip
@pytest.mark.parametrize(
    "final", ["I fixed it and all tests pass.", "Done. The test suite is green.", "Tests: passing"]
)
def test_a_request_never_proves_what_it_asks_for(wish: str, final: str) -> None:
    asked = {**SESSIONS[0], "question": wish}
    read = read_session(transcript("claude", asked).encode().split(b"\n"))
    assert why(final, read) == "not_run"


@pytest.mark.parametrize("fact", ["The tests already pass. Tidy up the parser.", "Why do all the tests pass here?"])
def test_a_request_that_says_how_the_tests_are_is_repeated(fact: str) -> None:
    read = read_session(transcript("claude", {**SESSIONS[0], "question": fact}).encode().split(b"\n"))
    assert why("I tidied it up. All tests pass.", read) == ""


def test_an_announced_step_is_sent_back() -> None:
    honest = next(each for each in SESSIONS if each["name"] == "tests run and passing")
    read = read_session(transcript("claude", honest).encode().split(b"\n"))
    assert why("The parser fails on line 3. Let me look at the tokenizer:", read) == "announced"
    assert why("The parser fails on line 3. If you like, I'll look at the tokenizer.", read) == ""


@pytest.mark.parametrize("phrases", [TABLE.done, TABLE.files, TABLE.asked, TABLE.stated])
def test_phrases_have_their_proof(phrases: Any) -> None:
    assert [hit for hit in phrases.hits if not finds(phrases.patterns, hit)] == []
    assert [miss for miss in phrases.misses if finds(phrases.patterns, miss)] == []


@pytest.mark.parametrize(
    ("command", "output", "kinds", "ended"),
    [
        ("cd app && CI=1 uv run pytest -q 2>&1 | tail -3", "1 failed, 8 passed", ("test",), False),
        ("pytest -q", "8 passed, 1 xfailed", ("test",), True),
        ("bash -lc 'npm test'", "Tests: 12 passed", ("test",), True),
        ("cargo nextest run", "Summary 9 tests run: 9 passed", ("test", "build"), True),
        ("python3 -m unittest discover", "OK", ("test",), True),
        ("./gradlew :app:testDebug", "BUILD FAILED in 3s", ("test", "build"), False),
        ("pip install pytest", "", (), None),
        ("grep -rn pytest .", "", (), None),
        ("echo 'npm test'", "", (), None),
        ("pytest --collect-only", "", (), None),
        ("git commit -m 'make the tests pass'", "", (), None),
        ("make test | tee log", "", ("test", "build", "types", "lint"), None),
    ],
)
def test_commands(command: str, output: str, kinds: tuple[str, ...], ended: object) -> None:
    (deed,) = actions_of([ToolCall("Bash", {"command": command}, output)])
    assert set(kinds) <= set(deed.kinds)
    assert bool(kinds) == bool(deed.kinds)
    assert deed.ended is ended


def test_long_commands_are_read_in_part() -> None:
    assert len(segments_of("true;" * 10_000 + "pytest")) <= 80
