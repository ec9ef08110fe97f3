"""`toolvet check conversation` from outside: every form of input, what it prints, and how it exits."""

import json
from pathlib import Path

import pytest
from tests.cli.in_process import Done, check

WEATHER = {"name": "weather", "inputSchema": {"type": "object", "required": ["city"]}}
FUNCTION = {"name": "weather", "arguments": '{"town": "Rome"}'}
FINE: list[dict[str, object]] = [
    {"role": "user", "content": "How warm is it in Rome?"},
    {"role": "assistant", "content": None, "tool_calls": [{"id": "a", "type": "function", "function": FUNCTION}]},
    {"role": "tool", "tool_call_id": "a", "content": "21 degrees"},
    {"role": "assistant", "content": "It is 21 degrees in Rome."},
]
CLAIM: list[dict[str, object]] = [
    {"role": "user", "content": "Mail Ann the report."},
    {"role": "assistant", "content": "Done, I have sent the report to Ann."},
]


def toolvet(*words: str, given: str = "") -> Done:
    return check("conversation", *words, given=given)


def jsonl(*values: object) -> str:
    return "".join(f"{json.dumps(value)}\n" for value in values)


def documents(done: Done) -> list[dict[str, object]]:
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_what_it_prints() -> None:
    done = toolvet(given=json.dumps({"id": "talk-7", "messages": [*FINE, *CLAIM], "tools": [WEATHER]}))
    assert done.returncode == 1
    assert done.stdout.splitlines() == [
        "talk-7: 2 turns",
        "  1  show      1     How warm is it in Rome?",
        "    weather: invalid arguments: city: Required",
        "  2  escalate  0.3   Mail Ann the report.  hallucination_risk (claimed_without_call)",
        "    0.7   Done, I have sent the report to Ann.",
        "                ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~",
        "          against: only weather was called",
        "1 conversation, 2 turns, 1 to escalate; 1 call, 1 failed",
    ]


def test_the_input_is_one_conversation_or_several() -> None:
    one = json.dumps(FINE, indent=1)
    several = [
        json.dumps([FINE, CLAIM]),
        jsonl(FINE, CLAIM),
        jsonl({"id": 1, "messages": FINE}, {"id": 2, "contents": CLAIM}),
        json.dumps([{"messages": FINE}, {"messages": CLAIM}], indent=1),
    ]
    for given, count in ((one, 1), (jsonl(*FINE), 1), *((each, 2) for each in several)):
        done = toolvet("--json", "--fail-on", "never", given=given)
        assert (done.returncode, done.stderr) == (0, "")
        assert len(documents(done)) == count, given


def test_json_has_the_verdicts_and_the_id() -> None:
    done = toolvet("--json", given=jsonl({"id": 1, "messages": FINE}, {"id": 2, "messages": CLAIM}))
    assert done.returncode == 1
    first, second = documents(done)
    assert (first["id"], first["should_escalate"]) == (1, False)
    assert (second["id"], second["should_escalate"]) == (2, True)
    assert list(first) == ["id", "should_escalate", "turns"]


def test_the_tools_of_a_file_check_the_arguments(tmp_path: Path) -> None:
    tools = tmp_path / "tools.json"
    tools.write_text(json.dumps({"tools": [WEATHER]}), encoding="utf-8")
    for fail_on, code in (("call", 1), ("escalate", 0), ("signal", 0), ("never", 0)):
        assert toolvet("--tools", str(tools), "--fail-on", fail_on, given=json.dumps(FINE)).returncode == code
    assert toolvet("--fail-on", "call", given=json.dumps(FINE)).returncode == 0


def test_a_table_has_a_conversation_in_each_row(tmp_path: Path) -> None:
    file = tmp_path / "talks.csv"
    quoted = ['"{}"'.format(json.dumps(talk).replace('"', '""')) for talk in (FINE, CLAIM)]
    file.write_text(f"id,log\na,{quoted[0]}\nb,{quoted[1]}\n", encoding="utf-8")
    done = toolvet(str(file), "--field", "log", "--json")
    assert [(each["id"], each["should_escalate"]) for each in documents(done)] == [("a", False), ("b", True)]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("", "stdin is empty"),
        ("hello", "stdin: not JSON"),
        ('{"a": 1}', "known formats: Anthropic"),
        (jsonl(FINE, {"role": "user"}), "stdin, line 2: not a conversation, as line 1 is"),
        (jsonl(FINE[0]) + "nope\n", "stdin, line 2: not JSON"),
        (jsonl(FINE, [5]), "stdin, line 2: none of the 1 messages can be read"),
    ],
)
def test_what_is_no_conversation_is_an_error_that_says_where(given: str, said: str) -> None:
    done = toolvet(given=given)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_the_settings_count(tmp_path: Path) -> None:
    settings = tmp_path / "toolvet.toml"
    settings.write_text('[checks.answer.custom_patterns]\nrefusal = ["degrees in Rome"]\n', encoding="utf-8")
    assert toolvet("--settings", str(settings), given=json.dumps(FINE)).returncode == 1
