"""Configuration files: JSON with comments, the servers of a client, settings and wordings of our own."""

import json
import tempfile
from pathlib import Path

import msgspec
from fuzz import words
from fuzz.draw import Draw
from fuzz.holds import holds

from toolvet import ConfigError, UsageError, check_arguments, load_settings, load_wording, read_wording
from toolvet.mcp.transport.client_config import JsoncError, read_client_config, read_jsonc

_FOLDER = tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None)  # noqa: S108 - memory.
TOOL = {"name": "sail", "inputSchema": {"type": "object", "required": ["port"], "properties": {"n": {"maximum": 3}}}}
SERVER = ("command", "args", "env", "url", "headers", "type", "transport", "disabled", "cwd", "envFile")
SECTIONS = (
    *("assess", "checks", "checks.answer", "checks.result", 'checks.result.tools."d*"', "checks.arguments", "proxy"),
    *("proxy.tools.a", "fixtures", "values", "fixtures.a", "checks.answer.custom_patterns", "checks.result.factors"),
    *("checks.severity", "text", "keyword.minimum", "suggestion", "phrase", "neutral", "keyword.required", "own"),
)
SETTINGS = (
    *("timeout", "tool", "include", "era", "header", "env", "report", "fail_on", "min_length", "strict", "threshold"),
    *("packs", "languages", "custom_patterns", "exceptions", "weights", "extra_patterns", "strong_patterns", "factors"),
    *("failure_patterns", "thresholds", "expects_validation", "any_response", "wording", "ignore", "severity", "a"),
    *(
        "arguments",
        "repair",
        "repair_from",
        "results",
        "output_schema",
        "break_after",
        "announce",
        "patience",
        "redact",
    ),
    *("refusal", "problem", "fix", "summary_invalid", "inherit", "kind", "expected", "constraint"),
)
VALUES = (
    *('"a"', "5", "0.5", "true", "[]", '["a"]', "{}", '"enforce"', '"off"', '"apply"', "[1]", '{ regex = "a+" }', "-1"),
    *(
        '{ refusal = ["a"] }',
        '{ own = { pattern = "a", weight = 2 } }',
        "nan",
        "inf",
        "1e400",
        '"{tool} {count}"',
        '"{"',
    ),
    *('["en"]', '["finance"]', '"{limit}"', "2026-11-22", '{ regex = "(" }', "9" * 30, '"high"', '"(?=a)b"', '"error"'),
)


def check(draw: Draw) -> None:
    """One of four kinds of files."""
    match draw.byte() % 4:
        case 0:
            _jsonc(_commented(draw))
        case 1:
            _client(draw)
        case 2:
            _settings(draw)
        case _:
            _wording(_toml(draw))


def _commented(draw: Draw) -> str:
    if draw.flag():
        return draw.raw().decode("utf-8", "surrogateescape")
    text = json.dumps(draw.json(), ensure_ascii=draw.flag())
    for _ in range(draw.byte() % 4):
        at = draw.byte() % (len(text) + 1)
        text = text[:at] + draw.one(("//x\n", "/* x */", ",", " ", "\n", "/*", '"', "\ufeff", "}", "\\")) + text[at:]
    return text


def _jsonc(text: str) -> None:
    try:
        document = read_jsonc(text)
    except JsoncError as error:
        holds(1 <= error.line <= text.count("\n") + 1, "the line of a problem is outside of the text")
        try:
            json.loads(text.removeprefix("\ufeff"), parse_constant=lambda _: 1 / 0)
        except (ValueError, RecursionError, ZeroDivisionError):
            return
        holds("deeper" in error.problem or "digits" in error.problem, "JSON was refused")
        return
    body = text.removeprefix("\ufeff")
    for path, (start, end) in document.spans.items():
        holds(0 <= start < end <= len(body), f"the span of {path} is outside of the text")
    holds(set(document.spans) == set(document.lines), "a value has no line or no span")
    try:
        same = json.loads(body)
    except (ValueError, RecursionError):
        return
    holds(repr(same) == repr(document.value), "another value than JSON says")


def _client(draw: Draw) -> None:
    def server() -> object:
        return {draw.one(SERVER): draw.json(3) for _ in range(draw.byte() % 5)}

    servers = {draw.text(): server() for _ in range(draw.byte() % 3)}
    text = json.dumps({draw.one(("mcpServers", "servers", "mcpServers", "x")): servers})
    path = Path(_FOLDER.name, "mcp.json")
    path.write_bytes(text.encode() if draw.byte() < 230 else draw.raw())
    try:
        for named in read_client_config(path, {"a": "b"}):
            named.target.describe()
    except ConfigError as error:
        str(error)


def _toml(draw: Draw) -> str:
    if draw.byte() > 230:
        return draw.raw().decode("utf-8", "replace")
    lines = ["inherit = true"] if draw.flag() else []
    for _ in range(draw.byte() % 8):
        kind = draw.byte()
        if kind < 70:
            lines.append(f"[{draw.one(SECTIONS)}]")
        elif kind < 240:
            lines.append(f"{draw.one(SETTINGS)} = {draw.one(VALUES)}")
        else:
            lines.append(f"{json.dumps(draw.text())} = {json.dumps(draw.json())}")
    return "\n".join(lines)


def _settings(draw: Draw) -> None:
    path = Path(_FOLDER.name, draw.one(("toolvet.toml", "pyproject.toml")))
    text = _toml(draw)
    if path.name == "pyproject.toml":
        text = text.replace("[", "[tool.toolvet.")
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    try:
        settings = load_settings(path)
    except (ConfigError, UsageError) as error:
        holds("\n" not in str(error)[:20], "the message begins with a line break")
        return
    for make in (settings.answer_check, settings.result_check, settings.argument_check):
        try:
            check = make()
        except (ConfigError, UsageError):
            continue
        if make == settings.result_check:
            check({"name": "d"}, {}, {"isError": True, "content": [{"type": "text", "text": "a"}]}).to_dict()
        elif make == settings.answer_check:
            check("I cannot help with that, a.").to_dict()


def _wording(text: str) -> None:
    path = Path(_FOLDER.name, "wording.toml")
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    wordings = []
    for read in (lambda: read_wording(text), lambda: load_wording(path), lambda: load_wording(str(path))):
        try:
            wordings.append(msgspec.structs.asdict(read()))
        except ConfigError as error:
            wordings.append(type(error))
    if not any(0xD800 <= ord(character) < 0xE000 or character == "\r" for character in text):
        holds(wordings[0] == wordings[1] == wordings[2], "a file says something else than its text")
    if not isinstance(wordings[0], type):
        for arguments in ({}, {"port": 1, "n": 5}, words.NAMES):
            report = check_arguments(TOOL, arguments, wording=read_wording(text))
            report.to_text()
            json.dumps(report.to_dict())
