"""`toolvet trace` from outside: the story that a person reads."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from toolvet.core.checks.result import check_result
from toolvet.store import Store, VerdictRecord
from toolvet.store.records import encode_document, new_id

TRACE = "0af7651916cd43dd8448eb211c80319c"
AT = 1_795_357_000.0
NOT_FOUND = check_result(
    {"name": "find_book"}, {}, {"isError": True, "content": [{"type": "text", "text": "Book not found"}]}
)

STORY = f"""\
turn {TRACE}
2026-11-22 14:16:40 UTC, 4 calls, 1 answer, 4.0 s

14:16:40.000  find_book  refused by toolvet, not sent: the arguments are wrong  (books)
    arguments  {{"titel": "Emma"}}
    why        Tool 'find_book' received invalid arguments. 1 validation error(s) found.
               - title: Required. Add 'title': provide a string.
    verdict    business, invalid_input; retry: fix_arguments

14:16:41.000  find_book  failed after 12 ms  (books)
    arguments  {{"title": "Emma\\u001b[31m"}}
    result     Book not found
    verdict    business, not_found; retry: fix_arguments
               - Tool rejected the call: business logic: Book not found

14:16:42.000  add  answered after 1.5 s  (books)
    repaired   Changed '/a' from the text "1" to the number 1.
    audit      would have been refused: too large
    verdict    fully_working

14:16:43.500  slow  was not answered  (books)
    why        the client went away

14:16:44.000  answer  escalate, score 0.1
    text       I have put Emma aside for you.
    signal     false_success (action), 0.9: I have put
               against: Book not found
"""


def toolvet(*words: str, given: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "toolvet", *words],
        input=given,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=170,
        check=False,
    )


def call(at: float, tool: str, outcome: str, duration: float | None = None, **more: object) -> VerdictRecord:
    blocked, detail = more.pop("blocked", None), more
    return VerdictRecord(
        id=new_id(),
        kind="call",
        at=AT + at,
        server="books",
        connection="stdio-1",
        request_id="1",
        tool=tool,
        era="legacy",
        outcome=outcome,
        duration=duration,
        blocked=None if blocked is None else str(blocked),
        trace=TRACE,
        document=encode_document(detail),
    )


@pytest.fixture
def record(tmp_path: Path) -> str:
    issue = {"field": "title", "problem": "Required", "fix": "Add 'title': provide a string."}
    why = "Tool 'find_book' received invalid arguments. 1 validation error(s) found."
    refused = {"error_kind": "business", "state": "invalid_input", "retry": "fix_arguments", "classification": "x"}
    signal = {
        "type": "false_success",
        "label": "action",
        "weight": 0.9,
        "evidence": "I have put",
        "against": "Book not found",
    }
    path = tmp_path / "calls.db"
    with Store(path) as store:
        store.add_records(
            [
                call(
                    0,
                    "find_book",
                    "refused",
                    blocked="arguments",
                    arguments={"titel": "Emma"},
                    why=why,
                    issues=[issue],
                    verdict=refused,
                ),
                call(
                    1,
                    "find_book",
                    "tool_error",
                    0.012,
                    arguments={"title": "Emma\x1b[31m"},
                    result={"content": [{"type": "text", "text": "Book not found"}]},
                    verdict=NOT_FOUND.to_dict(),
                ),
                call(
                    2,
                    "add",
                    "success",
                    1.5,
                    repaired={"steps": ["Changed '/a' from the text \"1\" to the number 1."]},
                    would_block="limits",
                    verdict={"classification": "fully_working", "evidence": ["Text"]},
                ),
                call(3.5, "slow", "lost", why="the client went away"),
                VerdictRecord(
                    id=new_id(),
                    kind="answer",
                    at=AT + 4,
                    trace=TRACE,
                    score=0.1,
                    escalate=True,
                    text="I have put Emma aside for you.",
                    document=encode_document({"signals": [signal]}),
                ),
                VerdictRecord(id=new_id(), kind="answer", at=AT + 5, trace="turn-2", score=1),
            ]
        )
    return str(path)


def test_a_turn_reads_as_a_story(record: str) -> None:
    done = toolvet("trace", "0af7", "--store", record)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == STORY


def test_what_is_missing_is_named(record: str) -> None:
    assert toolvet("trace", "turn-2", "--store", record).stdout.splitlines() == [
        "turn turn-2",
        "2026-11-22 14:16:45 UTC, 0 calls, 1 answer, 0 ms",
        "",
        "14:16:45.000  answer  show, score 1",
    ]


def test_programs_get_the_turn_as_json(record: str) -> None:
    document = json.loads(toolvet("trace", TRACE, "--store", record, "--json").stdout)
    assert document["trace_id"] == TRACE
    assert [each["kind"] for each in document["entries"]] == ["call"] * 4 + ["answer"]
    assert document["entries"][0]["blocked"] == "arguments"


def test_without_an_id_the_latest_turns_are_listed(record: str) -> None:
    lines = toolvet("trace", "--store", record).stdout.splitlines()
    assert lines[1].split() == ["2026-11-22", "14:16:45", "turn-2", "show"]
    assert "0af7651916cd43dd" in lines[2]
    listed = json.loads(toolvet("trace", "--store", record, "--json").stdout)
    assert [turn["trace_id"] for turn in listed] == ["turn-2", TRACE]


def test_an_unknown_id_and_a_missing_record_are_errors_of_the_user(record: str, tmp_path: Path) -> None:
    done = toolvet("trace", "zzz", "--store", record)
    assert (done.returncode, done.stdout) == (2, "")
    assert "has no turn whose id is or begins with 'zzz'" in done.stderr
    missing = toolvet("trace", "zzz", "--store", str(tmp_path / "none.db"))
    assert (missing.returncode, "none.db: there is no such store" in missing.stderr) == (2, True)


def test_an_answer_is_handed_in_under_its_trace_id(record: str) -> None:
    given = json.dumps({"answer": "I cannot help with that request.", "trace": TRACE})
    done = toolvet("check", "answer", "--store", record, "--json", given=given)
    assert (done.returncode, json.loads(done.stdout)["trace_id"]) == (1, TRACE)
    assert "text       I cannot help with that request." in toolvet("trace", TRACE, "--store", record).stdout
    of_flag = toolvet("check", "answer", "--store", record, "--trace", "turn-2", given="The museum opens at nine.")
    assert of_flag.returncode == 0
    assert "text       The museum opens at nine." in toolvet("trace", "turn-2", "--store", record).stdout
