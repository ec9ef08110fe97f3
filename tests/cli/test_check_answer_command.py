"""`toolvet check answer` from outside."""

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from toolvet.core.checks.answer.phrases import phrases

REFUSAL = "I cannot help with that request."
FINE = "The three largest harbours are Shanghai, Singapore and Ningbo."


def toolvet(*words: str, given: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "toolvet", "check", "answer", *words],
        input=given,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=170,
        check=False,
    )


def verdicts(done: subprocess.CompletedProcess[str]) -> list[dict[str, object]]:
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_a_text_is_one_answer_and_a_refusal_ends_with_1() -> None:
    done = toolvet(given=f"{FINE}\n\n{REFUSAL}\n")
    assert done.returncode == 1
    assert done.stdout.splitlines()[0].split() == ["escalate", "0.25", "stdin", "refusal"]
    assert "1 answer, 1 to escalate (100%)" in done.stdout


def test_the_evidence_is_underlined_in_its_context() -> None:
    lines = toolvet(given=f"{FINE} {REFUSAL}").stdout.splitlines()
    evidence = next(line for line in lines if REFUSAL in line)
    under = lines[lines.index(evidence) + 1]
    assert evidence[under.index("~") : under.rindex("~") + 1].startswith("I cannot help")


def test_nothing_is_coloured_where_there_is_no_terminal() -> None:
    assert "\x1b" not in toolvet(given=REFUSAL).stdout


def test_a_terminal_gets_colours_and_an_underline() -> None:
    main, side = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "toolvet", "check", "answer"],
        stdin=subprocess.PIPE,
        stdout=side,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "TERM": "xterm-256color", "NO_COLOR": ""},
    )
    process.communicate(REFUSAL.encode(), timeout=170)
    os.close(side)
    shown = os.read(main, 65_536).decode()
    os.close(main)
    assert "\x1b[1;4;33mI cannot help" in shown
    assert "~~~" not in shown


def test_each_line_of_jsonl_is_an_answer_with_what_is_known_of_its_turn() -> None:
    records = [
        {"id": "a", "answer": REFUSAL},
        {"id": "b", "text": FINE, "finish_reason": "length"},
        {"id": "c", "response": FINE, "stop_reason": "end_turn"},
        {"id": "d", "content": [{"type": "text", "text": FINE}]},
        {"id": "e", "content": None},
        FINE,
    ]
    done = toolvet("--json", given="".join(f"{json.dumps(record)}\n\n" for record in records))
    found = verdicts(done)
    assert [each.get("id") for each in found] == ["a", "b", "c", "d", "e", None]
    assert [each["should_escalate"] for each in found] == [True, True, False, False, True, False]


def test_a_short_answer_to_a_question_is_one() -> None:
    price = [{"name": "get_price", "arguments": {}, "result": "4.90 EUR"}]
    records = [
        {"answer": "4.90 EUR."},
        {"answer": "4.90 EUR.", "question": "What does it cost?"},
        {"answer": "4.90 EUR.", "calls": price},
        {"answer": "Yes.", "question": "Write an essay about whales."},
    ]
    found = verdicts(toolvet("--json", given="\n".join(map(json.dumps, records))))
    assert [each["should_escalate"] for each in found] == [True, False, False, True]


def test_one_object_over_several_lines_and_a_list_are_read_too() -> None:
    assert verdicts(toolvet("--json", given=json.dumps({"answer": FINE}, indent=2)))[0]["score"] == 1
    assert len(verdicts(toolvet("--json", given=json.dumps([{"answer": FINE}, {"text": REFUSAL}])))) == 2


def test_lines_of_a_text_can_be_answers_of_their_own() -> None:
    found = verdicts(toolvet("--json", "--lines", given=f"{FINE}\n\n{REFUSAL}\n"))
    assert [each["should_escalate"] for each in found] == [False, True]


def test_several_files_are_reported_by_their_names(tmp_path: Path) -> None:
    for name, text in (("fine.txt", FINE), ("refusal.txt", REFUSAL)):
        (tmp_path / name).write_text(text, encoding="utf-8")
    done = toolvet(str(tmp_path / "fine.txt"), str(tmp_path / "refusal.txt"))
    assert done.stdout.index("fine.txt") < done.stdout.index("refusal.txt")
    assert "2 answers, 1 to escalate (50%)" in done.stdout


@pytest.mark.parametrize(
    ("text", "fail_on", "code"),
    [
        (REFUSAL, "escalate", 1),
        (REFUSAL, "never", 0),
        (FINE, "signal", 0),
        (f"{FINE} I think this is right.", "escalate", 0),
        (f"{FINE} I think this is right.", "signal", 1),
    ],
)
def test_the_exit_code_follows_fail_on(text: str, fail_on: str, code: int) -> None:
    assert toolvet("--fail-on", fail_on, given=text).returncode == code


def test_options_reach_the_check() -> None:
    assert toolvet("--min-length", "1", given="42").returncode == 0
    assert toolvet(given="42").returncode == 1
    assert toolvet("--languages", "zh,de", given=REFUSAL).returncode == 0
    assert "next time:" in toolvet("--advice", given=REFUSAL).stdout
    assert verdicts(toolvet("--advice", "--json", given=REFUSAL))[0]["advice"]


@pytest.mark.parametrize(
    ("words", "given", "named"),
    [
        (("--languages", "klingon"), FINE, "klingon"),
        (("no-such-file.txt",), "", "no-such-file.txt"),
        ((), '{"id": 1}', "no answer in it"),
        ((), f'{{"answer": "{FINE}"}}\nnot json\n', "line 2"),
        ((), '{"answer": 42}', "must be a text"),
    ],
)
def test_input_that_cannot_be_read_is_named_and_ends_with_2(words: tuple[str, ...], given: str, named: str) -> None:
    done = toolvet(*words, given=given)
    assert done.returncode == 2
    assert named in done.stderr
    assert "Traceback" not in done.stderr


def test_a_record_that_is_wrong_does_not_take_back_those_before_it() -> None:
    done = toolvet("--json", given=f'{{"id": 1, "answer": "{FINE}"}}\n{{"id": 2}}\n')
    assert [each["id"] for each in verdicts(done)] == [1]
    assert done.returncode == 2


def test_bytes_that_are_not_text_and_lone_surrogates_get_a_verdict() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "toolvet", "check", "answer", "--json"],
        input=b"\xff\xfe\x00 I cannot help with that request.",
        capture_output=True,
        timeout=170,
        check=False,
    )
    assert json.loads(done.stdout)["should_escalate"] is True
    assert verdicts(toolvet("--json", given='"I cannot help with that \\ud800 request."'))[0]["should_escalate"] is True


def test_control_characters_of_an_answer_do_not_reach_the_terminal() -> None:
    assert "\x1b" not in toolvet(given=f"\x1b[31m{REFUSAL}\x1b[0m").stdout


def started_at_a_terminal(**environment: str) -> tuple[subprocess.Popen[bytes], int]:
    """The command with a terminal for stderr, and the descriptor that reads it."""
    main, side = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "toolvet", "check", "answer"],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=side,
        env={**os.environ, **environment},
    )
    os.close(side)
    return process, main


def test_the_first_compilation_is_announced_at_a_terminal(tmp_path: Path) -> None:
    process, terminal = started_at_a_terminal(
        XDG_CACHE_HOME=str(tmp_path), TMPDIR=str(tmp_path), TOOLVET_PREPARE="wait"
    )
    assert process.stdin is not None
    process.stdin.write(FINE.encode())
    process.stdin.close()
    try:
        # The line that shows the progress may come first, and is drawn again below the announcement.
        printed = b""
        while b"\n" not in printed:
            printed += os.read(terminal, 1000)
        assert b"toolvet: preparing the phrases" in printed
    finally:
        process.kill()
        process.wait()
        os.close(terminal)


def test_a_compilation_that_was_done_before_is_not_announced() -> None:
    phrases().pattern_set.prepare()
    process, terminal = started_at_a_terminal(TERM="dumb")
    process.communicate(FINE.encode(), timeout=170)
    printed = b""
    try:
        while chunk := os.read(terminal, 1000):
            printed += chunk
    except OSError:
        pass  # The other side of the terminal is closed.
    os.close(terminal)
    assert b"preparing" not in printed


@pytest.mark.parametrize("words", [["-"], ["-", "--json"], ["--json", "-"]])
def test_a_lone_hyphen_is_stdin(words: list[str]) -> None:
    done = toolvet(*words, given=REFUSAL)
    assert (done.returncode, done.stderr) == (1, "")
