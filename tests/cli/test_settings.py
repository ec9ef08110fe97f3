"""Own words and rules for answers and results: one settings file, valid for every part of toolvet."""

import asyncio
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import toolvet
from toolvet.assess import Options, assess
from toolvet.assess.exchange import PlannedCall, observe
from toolvet.assess.rules import tool_definition
from toolvet.assess.rules.ending import verdict_of
from toolvet.core.checks.result import ResultCheck
from toolvet.core.checks.result_settings import ResultSettings
from toolvet.core.discover import settings_file
from toolvet.core.settings import Settings, load_settings
from toolvet.errors import ConfigError, UsageError
from toolvet.mcp.transport import RpcError, StdioTarget
from toolvet.proxy.session import CallEnded, Policies, ProxySettings, Session

SETTINGS = """
[checks.answer]
packs = ["finance"]
threshold = 0.5
languages = ["en"]

[checks.answer.custom_patterns]
refusal = ["not my department"]

[checks.answer.exceptions]
refusal = ["in this chat"]

[checks.answer.weights]
low_confidence = 0.1

[checks.result]
extra_patterns = ["flux too low"]

[checks.result.tools."ship_*"]
strong_patterns = [{ regex = 'E\\d{4}\\b' }]

[checks.result.tools.ship_fast]
any_response = true
"""
FAILED = {"isError": True, "content": [{"type": "text", "text": "Internal error E4711"}]}
FLUX = {"isError": True, "content": [{"type": "text", "text": "flux too low"}]}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "toolvet.toml"
    path.write_text(SETTINGS, encoding="utf-8")
    return path


def test_the_library_checks_answers_as_the_file_says(file: Path) -> None:
    check = toolvet.load_settings(file).answer_check()
    assert check("The fund offers guaranteed returns of 12 %.").signals[0].label == "overclaim"
    assert check("That is not my department, I am afraid.").signals[0].source == "custom"
    assert not check("I'm sorry, but I can't help with refunds in this chat.").signals


@pytest.mark.parametrize(
    "text",
    [
        "[tool.toolvet.checks.answer]\nthreshold = 0.5",
        "[ tool . 'toolvet' ]\nchecks.answer.threshold = 0.5",
        'tool."toolvet".checks.answer.threshold = 0.5',
        '[project]\nname = "x"\r\n[tool]\r\ntoolvet = { checks.answer.threshold = 0.5 }',
        "  [ 'tool' ] # ours\ntoolvet.checks.answer.threshold = 0.5",
        "tool = { toolvet = { checks.answer.threshold = 0.5 } }",
    ],
)
def test_a_project_has_its_settings_however_it_writes_them(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pyproject.toml").write_text(text, encoding="utf-8", newline="")
    monkeypatch.chdir(tmp_path)
    assert settings_file(None) == "pyproject.toml"
    assert load_settings().answer_options() == {"threshold": 0.5}


def test_a_project_that_only_depends_on_toolvet_has_no_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (
        '[project]\ndependencies = ["toolvet"]\nscripts.toolvet = "a:b"\n[tool.other]\ntool = "toolvet"\n[toolvet.tool]'
    )
    (tmp_path / "pyproject.toml").write_text(text.replace('tool = "toolvet"', 'run = "toolvet"'), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert settings_file(None) is None
    # One that may have some is read, and has none.
    (tmp_path / "pyproject.toml").write_text(text, encoding="utf-8")
    assert settings_file(None) == "pyproject.toml"
    assert load_settings() == Settings()


def test_results_are_checked_tool_by_tool(file: Path) -> None:
    check = toolvet.load_settings(file).result_check()
    kinds = {name: check({"name": name}, {}, FAILED).error_kind for name in ("ship_order", "get_order")}
    assert kinds == {"ship_order": "business", "get_order": "tool_failure"}
    assert check({"name": "get_order"}, {}, FLUX).error_kind == "business"
    assert check({"name": "ship_fast"}, {}, FAILED).classification == "fully_working"


RULES = """
[checks.result]
weights = { test_data = 3 }

[checks.result.factors.ledger]
pattern = "ledger"
weight = 4

[checks.result.tools."bank_*"]
threshold = 0.2
failure_patterns = ["not found in the mainframe"]
exceptions = [{ regex = 'not found in cache' }]
"""


def test_factors_weights_and_a_threshold_decide_what_no_word_decides(tmp_path: Path) -> None:
    path = tmp_path / "toolvet.toml"
    path.write_text(RULES, encoding="utf-8")
    check = load_settings(path).result_check()

    def judged(name: str, text: str, *, is_error: bool = True) -> toolvet.ResultVerdict:
        return check({"name": name}, {}, {"isError": is_error, "content": [{"type": "text", "text": text}]})

    verdict = judged("bank_zig", "zorp::blick ledger 0x1f")
    assert verdict.error_kind == "business"
    weights = {factor.name: factor.weight for factor in verdict.factors}
    assert (weights["ledger"], weights["test_data"]) == (4, 3)
    assert judged("bank_zig", "zorp::blick 0x1f").error_kind == "tool_failure"
    assert judged("shop_zig", "zorp::blick ledger 0x1f").error_kind == "unknown"
    assert judged("bank_read", "Account 7 not found in the mainframe").error_kind == "tool_failure"
    assert judged("shop_read", "Account 7 not found in the mainframe").error_kind == "business"
    assert not judged("bank_lint", "Error: user 7 not found in cache", is_error=False).error_without_flag
    assert judged("shop_lint", "Error: user 7 not found in cache", is_error=False).error_without_flag


TYPES = """
[checks.result.factors.ledger]
pattern = "ledger"
weight = 4

[checks.result.thresholds]
validation_expected = 0.2
other = 0.9

[checks.result.tools.get_pulse]
expects_validation = false

[checks.result.tools.quux]
expects_validation = true

[checks.result.tools."bank_*"]
threshold = 0.2
"""


def test_a_type_of_tool_has_its_threshold_and_a_name_its_exception(tmp_path: Path) -> None:
    path = tmp_path / "toolvet.toml"
    path.write_text(TYPES, encoding="utf-8")
    check = load_settings(path).result_check()
    error = {"isError": True, "content": [{"type": "text", "text": "zorp::blick ledger 0x1f"}]}
    kinds = {name: check({"name": name}, {}, error).error_kind for name in ("get_zig", "zig", "get_pulse", "quux")}
    assert kinds == {"get_zig": "business", "zig": "tool_failure", "get_pulse": "tool_failure", "quux": "business"}
    # Settings for some tools win over settings for all.
    assert check({"name": "bank_zig"}, {}, error).error_kind == "business"


def test_the_factor_of_the_name_follows_the_exception() -> None:
    error = {"isError": True, "content": [{"type": "text", "text": "User 7 not found"}]}
    named = {True: "quux", False: ""}
    for expects, word in named.items():
        name = "quux" if expects else "get_user"
        verdict = toolvet.check_result({"name": name}, {}, error, expects_validation=expects)
        (factor,) = (each for each in verdict.factors if each.name == "validation_expected_tool")
        assert (factor.present, factor.evidence or "") == (expects, word)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("thresholds = { shop = 0.2 }", "there is no type of tool 'shop'; there are validation_expected, other"),
        ("thresholds = { other = 3 }", "the threshold of 'other' must be a number from 0 to 1, not 3.0"),
        ("weights = { luck = 2 }", "there is no factor 'luck'; there are mcp_error_code"),
        ("threshold = 2.0", "threshold must be a number from 0 to 1, not 2.0"),
        ("factors.ledger = { pattern = 'a', weight = -1 }", "the weight of 'ledger' must be a whole number"),
        ("extra_patterns = [{ regex = '(' }]", "it is not a regular expression"),
    ],
)
def test_a_rule_that_cannot_be_used_is_refused(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "toolvet.toml"
    path.write_text(f"[checks.result]\n{text}\n", encoding="utf-8")
    with pytest.raises(UsageError, match=re.escape(words)):
        load_settings(path).result_check()


def test_without_settings_the_check_is_check_result() -> None:
    check = toolvet.ResultCheck()
    assert check({"name": "a"}, {}, FAILED) == toolvet.check_result({"name": "a"}, {}, FAILED)


def test_the_proxy_judges_by_the_same_file(file: Path) -> None:
    settings = load_settings(file)
    session = Session(Policies(settings[ProxySettings], check=settings.result_check()))

    def sent(**members: object) -> bytes:
        return json.dumps({"jsonrpc": "2.0", **members}).encode()

    session.from_client(sent(id=0, method="tools/list"))
    session.from_server(sent(id=0, result={"tools": [{"name": "ship_order", "inputSchema": {"type": "object"}}]}))
    session.from_client(sent(id=1, method="tools/call", params={"name": "ship_order", "arguments": {}}))
    steps = session.from_server(sent(id=1, result=FAILED))
    (verdict,) = [step.verdict for step in steps if isinstance(step, CallEnded)]
    assert verdict is not None
    assert verdict.error_kind == "business"


SERVER = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    tool = {"name": "get_flux", "description": "Reads the flux.", "inputSchema": {"type": "object"}}
    known = {
        "initialize": {
            "protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}
        },
        "tools/list": {"tools": [tool]},
        "tools/call": {"isError": True, "content": [{"type": "text", "text": "Internal error: flux too low"}]},
    }
    reply = {"jsonrpc": "2.0", "id": message["id"]}
    found = known.get(message["method"])
    reply.update({"result": found} if found else {"error": {"code": -32601, "message": "Method not found"}})
    print(json.dumps(reply), flush=True)
"""


def test_assess_judges_by_the_same_file(tmp_path: Path) -> None:
    server = tmp_path / "server.py"
    server.write_text(SERVER, encoding="utf-8")
    strong = tmp_path / "toolvet.toml"
    strong.write_text('[checks.result]\nstrong_patterns = ["flux too low"]\n', encoding="utf-8")
    target = StdioTarget(command=sys.executable, args=(str(server),))

    def kinds(options: Options) -> set[str | None]:
        report = asyncio.run(assess(target, options))
        (tool,) = report.tools
        return {each.verdict.error_kind for each in tool.scenarios if each.verdict is not None}

    assert kinds(Options()) == {"tool_failure"}
    assert kinds(Options(check=load_settings(strong).result_check())) == {"business"}


def test_protocol_errors_are_judged_by_the_same_words() -> None:
    tool = tool_definition({"name": "get_flux", "inputSchema": {"type": "object"}}, 0)
    plan = PlannedCall(name="minimal", category="happy_path", arguments={}, origin="generator")
    reply = RpcError(code=-32603, message="Internal error: E4711 flux too low", data=None, duration=0.0)
    checks = (ResultCheck(), ResultCheck(ResultSettings(strong_patterns=("flux too low",))))
    verdicts = [verdict_of(observe(tool, plan, reply, protocol_version="2025-11-25", check=each)) for each in checks]
    kinds = [None if verdict is None else verdict.error_kind for verdict in verdicts]
    assert kinds == ["tool_failure", "business"]


@pytest.mark.parametrize(
    ("command", "given", "code"),
    [
        (["check", "answer"], "The fund offers guaranteed returns of 12 %. You cannot lose with it.", 1),
        (["check", "answer", "--threshold", "0.1"], "The fund offers guaranteed returns of 12 %.", 0),
        (["check", "result"], json.dumps({"tool": "ship_order", "result": FAILED}), 0),
        (["check", "result"], json.dumps({"tool": "get_order", "result": FAILED}), 1),
    ],
)
def test_the_command_line_reads_the_same_file(file: Path, command: list[str], given: str, code: int) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "toolvet", *command],
        input=given.encode(),
        cwd=file.parent,
        capture_output=True,
        check=False,
    )
    assert done.returncode == code, done.stdout.decode() + done.stderr.decode()


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("[checks.answer]\npack = ['medical']", 2, "unknown key"),
        ("[assess]\ntimeuot = 5", 2, "unknown key (did you mean 'timeout'?); see"),
        ("[asess]\ntimeout = 5", 1, "unknown key (did you mean 'assess'?); see"),
        ("[assess]\nxyzzy = 5", 2, "unknown key; see"),
        ("[checks.answer.weights]\nrefusal = 'high'", 2, "Expected 'float', got 'str'"),
        ("[checks.result.tools.get_order]\nany_response = 3", 2, "Expected 'bool', got 'int'"),
    ],
)
def test_a_wrong_file_is_refused_with_its_line(tmp_path: Path, text: str, line: int, words: str) -> None:
    path = tmp_path / "toolvet.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=re.escape(words)) as caught:
        load_settings(path)
    assert f":{line}" in str(caught.value) or caught.value.line == line
