"""A check whose words are plain is run without cyclopts, and is the call that cyclopts would have made of them."""

import json
import os
import subprocess
import sys
from functools import partial
from importlib import import_module
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st
from tests.cli.in_process import check

from toolvet.cli import parse
from toolvet.cli.commands.check.verdicts import encode
from toolvet.cli.plain_words import plain_call
from toolvet.core.visible import visible

COMMANDS = ("answer", "arguments", "conversation", "envelope", "result")
WORDS = (
    "--json", "--jso", "--no-json", "--json=true", "-", "--", "a.txt", "b c.txt", "-v", "--fail-on", "never",
    "--fail_on", "escalate", "signal", "error", "--fail-on=never", "--fail-on=", "--fail-on=NEVER", "--min-length",
    "20", "-5", "007", "0", "1.5", "0x10", "--threshold", "--strict", "--settings", "toolvet.toml", "--tool",
    "--tool=t.json", "--name=x", "--packs", "medical,legal", "--field", "text", "--advice", "--lines", "--store",
    "--trace", "t", "--max-chars", "9", "--help", "-h", "--version", "", "ü", "a\tb", "--unknown", "--tools=x=y",
    "--=x", "-j",
)  # fmt: skip


@settings(max_examples=400)
@given(st.sampled_from(COMMANDS), st.lists(st.sampled_from(WORDS), max_size=6))
def test_both_read_the_same(command: str, words: list[str]) -> None:
    call = plain_call(["check", command, *words])
    if call is None:
        return
    assert isinstance(call, partial)
    meant, bound, _ignored = parse(["check", command, *words])
    assert meant is call.func is getattr(import_module("toolvet.cli.commands.check"), command)
    assert (bound.args, bound.kwargs) == (call.args, call.keywords)


@pytest.mark.parametrize(
    "words",
    [
        ["answer"],
        ["answer", "--json"],
        ["answer", "--json", "--fail-on", "never", "a.txt", "-"],
        ["answer", "--languages=en,de", "--min-length", "5", "--settings", "x.toml", "a.txt", "b.txt"],
        ["arguments", "--tool", "t.json", "calls.jsonl"],
        ["result", "--fail-on=broken", "-"],
    ],
)
def test_what_hooks_say_is_plain(words: list[str]) -> None:
    assert plain_call(["check", *words]) is not None


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["check"],
        ["check", "answers"],
        ["proxy", "--json"],
        ["check", "answer", "--help"],
        ["check", "answer", "--threshold", "0.5"],
        ["check", "answer", "--fail-on", "always"],
        ["check", "answer", "--json", "--json"],
        ["check", "result", "a", "b"],
        ["check", "arguments", "a"],
        ["check", "answer", "--settings"],
    ],
)
def test_the_rest_is_left_to_cyclopts(words: list[str]) -> None:
    assert plain_call(words) is None


NEEDLESS = (
    "threading cyclopts rich orjson pathlib inspect dataclasses tomllib",
    "toolvet.core.settings toolvet.core.matching.phrasebook",
)


def test_a_check_into_a_pipe_loads_little(tmp_path: Path) -> None:
    code = """
import sys
from toolvet.cli import main
sys.argv[1:] = ["check", "answer", *sys.argv[1:]]
try:
    main()
finally:
    sys.stderr.write(" ".join(sys.modules))
"""
    environment = {name: value for name, value in os.environ.items() if name not in ("FORCE_COLOR", "TTY_COMPATIBLE")}
    # A plain folder for a user: no settings, and a project of which none is about us.
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'x'\n", encoding="utf-8")

    def loaded(words: list[str]) -> set[str]:
        done = subprocess.run(
            [sys.executable, "-c", code, *words],
            cwd=tmp_path,
            env=environment,
            input="The sea was quiet in the morning.",
            capture_output=True,
            text=True,
            check=True,
        )
        return set(done.stderr.split())

    loaded(["--json"])  # It keeps the tables that it reads.
    for words in (["--json"], []):
        assert not loaded(words) & set(" ".join(NEEDLESS).split()), words


@pytest.mark.parametrize(
    "text", ["I cannot help with that request.", "Je ne peux pas vous aider, désolé.", "抱歉, 我无法帮助您。"]
)
def test_lines_in_a_pipe_are_those_of_rich_without_its_styles(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = check("answer", "--advice", given=text)
    # Rich prints where this is set, and no styles, because it is not a terminal.
    monkeypatch.setenv("TTY_COMPATIBLE", "0")
    assert check("answer", "--advice", given=text) == plain
    assert "~~~" in plain.stdout


@given(
    st.dictionaries(
        st.text(st.characters(exclude_categories=()), max_size=8).filter(lambda key: key != "id"),
        st.floats(0, 1) | st.text(st.characters(exclude_categories=())) | st.integers(0, 10**30) | st.booleans(),
    )
)
def test_json_is_the_same_document_behind_an_identity_and_has_nothing_unseen(document: dict[str, object]) -> None:
    line = encode(document)
    assert line.endswith(b"\n")
    assert json.loads(line) == document
    assert json.loads(encode(document, {"id": 1})) == {"id": 1, **document}
    assert visible(line.decode()) == line.decode()


ODD = "\x9b31m\u202eevil\u2066\x7f"
TOOL = {"name": "find", "inputSchema": {"properties": {"book": {"enum": ["a"]}}, "additionalProperties": False}}


@pytest.mark.parametrize(
    ("words", "record"),
    [
        (["answer"], {"text": "I cannot help with ODD that request."}),
        (["conversation"], {"messages": [{"role": "assistant", "content": "I cannot help with ODD that request."}]}),
        (["result"], {"tool": "find", "result": {"content": [{"type": "text", "text": "Error: ODD is gone"}]}}),
        (["envelope"], {"success": False, "data": {"error_code": "ODD"}, "error": "ODD", "meta": {"ODD": 1}}),
        (["arguments", "--tool", "TOOL"], {"ODD": 1, "book": "ODD"}),
    ],
    ids=lambda each: each[0] if isinstance(each, list) else "",
)  # fmt: skip
def test_what_a_verdict_quotes_does_not_steer_the_terminal(
    tmp_path: Path, words: list[str], record: dict[str, object]
) -> None:
    (tmp_path / "tool.json").write_text(json.dumps(TOOL))
    given = json.dumps({"id": "ODD", **record} if words[0] != "arguments" else record).replace("ODD", ODD)
    words = [str(tmp_path / "tool.json") if word == "TOOL" else word for word in words]
    done = check(*words, "--json", given=json.dumps(json.loads(given)))
    assert done.returncode in (0, 1), done.stderr
    assert visible(done.stdout) == done.stdout
    assert "\\u009b31m\\u202eevil\\u2066\\u007f" in done.stdout.lower()
