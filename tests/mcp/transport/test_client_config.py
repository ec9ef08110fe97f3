from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from toolvet.errors import ConfigError
from toolvet.mcp.transport import HttpTarget, NamedTarget, StdioTarget, read_client_config
from toolvet.mcp.transport.client_config import JsoncError, read_jsonc

ENVIRON = {"HOME": "/home/me", "KEY": "k3y", "EMPTY": ""}


def read(tmp_path: Path, text: str) -> tuple[NamedTarget, ...]:
    file = tmp_path / "mcp.json"
    file.write_text(text, encoding="utf-8")
    return read_client_config(file, ENVIRON)


def wrong(tmp_path: Path, text: str) -> str:
    with pytest.raises(ConfigError) as caught:
        read(tmp_path, text)
    return str(caught.value).removeprefix(str(tmp_path / "mcp.json"))


def test_servers_are_read_in_their_order_and_without_the_disabled_ones(tmp_path: Path) -> None:
    text = """\ufeff{
      // what a desktop client writes, and what an editor makes of it
      "mcpServers": {
        "time": {"command": "uvx", "args": ["mcp-server-time"],},
        "off": {"command": "x", "disabled": true},
        "files": {"type": "stdio", "command": "npx", "args": ["-y", "files", "/* no comment */"],
                  "env": {"DEBUG": 1, "RATIO": 0.5, "GONE": null, "KEY": "${KEY}"}, "cwd": "${HOME}/x"},
        /* over
           the network */
        "web": {"url": "https://h/mcp", "headers": {"Authorization": "Bearer ${env:KEY}"}},
        "named": {"type": "streamable-http", "url": "${URL:-http://127.0.0.1:8000/mcp}"},
      },
    }"""
    assert read(tmp_path, text) == (
        NamedTarget("time", StdioTarget("uvx", ("mcp-server-time",))),
        NamedTarget(
            "files",
            StdioTarget(
                "npx",
                ("-y", "files", "/* no comment */"),
                {"DEBUG": "1", "RATIO": "0.5", "KEY": "k3y"},
                "/home/me/x",
            ),
        ),
        NamedTarget("web", HttpTarget("https://h/mcp", {"Authorization": "Bearer k3y"})),
        NamedTarget("named", HttpTarget("http://127.0.0.1:8000/mcp")),
    )


def test_the_servers_of_vs_code_are_read_with_its_own_variables(tmp_path: Path) -> None:
    folder = tmp_path / ".vscode"
    folder.mkdir()
    file = folder / "mcp.json"
    file.write_text('{"servers": {"a": {"command": "${workspaceFolder}/run", "args": ["${EMPTY}", "$HOME"]}}}')
    (named,) = read_client_config(file, ENVIRON)
    assert named.target == StdioTarget(f"{tmp_path.resolve()}/run", ("", "$HOME"))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", ", line 1: expected a value, found the end of the document"),
        ("{\n\n  mcpServers: {}\n}", ", line 3: expected a key in double quotes, found mcpServers:"),
        ('{"mcpServers": {\n"a": 1', ', line 2: the document ends before a closing "}"'),
        ('{"mcpServers": {\n"a" 1}}', ', line 2: expected ":" after the key "a", found 1'),
        ('{"mcpServers": {}\n} x', ", line 2: there is more after the end of the document"),
        ('{"a": "x\n"}', ", line 1: a string that does not end on its line"),
        ('{"a": 1 /* \n', ", line 1: a comment that starts with /* and never ends"),
        ('{\n"a": 1,\n"a": 2}', ', line 3: the key "a" occurs a second time'),
        ('{"a": [1 2]}', ', line 1: expected "," or "]", found 2'),
        ('{"a": tru}', ", line 1: expected a value, found tru"),
        ('{"a": "\\q"}', ', line 1: a string with an illegal escape: "\\q"'),
        ("[" * 1000, ", line 1: nested deeper than 100 levels"),
        ("[]", ", line 1: must be an object, not an array"),
        ("{}", ", line 1: names no servers: there is neither `mcpServers` nor `servers`"),
        ('{\n"mcpServers": []}', ", line 2: mcpServers: must be an object, not an array"),
        ('{"mcpServers": {\n"a": null}}', ", line 2: mcpServers.a: must be an object, not null"),
        (
            '{"mcpServers": {\n"a": {}}}',
            ", line 2: mcpServers.a: needs `command` (a program to start) or `url`",
        ),
        (
            '{"mcpServers": {"a":\n{"command": "x", "url": "http://h"}}}',
            ", line 1: mcpServers.a: has both `command` and `url`; say which with `type`",
        ),
        (
            '{"mcpServers": {"a": {\n"type": "grpc", "url": "http://h"}}}',
            (
                ', line 2: mcpServers.a.type: unknown type "grpc"; '
                "known are stdio, http, streamable-http, streamableHttp, sse"
            ),
        ),
        ('{"mcpServers": {"a": {"type": "stdio"}}}', ", line 1: mcpServers.a: needs `command`, the program to start"),
        ('{"mcpServers": {"a": {"type": "http"}}}', ', line 1: mcpServers.a: needs `url`, because its type is "http"'),
        ('{"mcpServers": {"a": {"command": ""}}}', ", line 1: mcpServers.a.command: is empty"),
        ('{"mcpServers": {"a": {"command": ["x"]}}}', ", line 1: mcpServers.a.command: must be a string, not an array"),
        (
            '{"mcpServers": {"a": {"command": "x",\n "args": "y"}}}',
            ", line 2: mcpServers.a.args: must be an array of strings, not a string",
        ),
        (
            '{"mcpServers": {"a": {"command": "x", "args": [\n"y",\n7]}}}',
            ", line 3: mcpServers.a.args.1: must be a string, not a number",
        ),
        (
            '{"mcpServers": {"a": {"command": "x", "env": {\n\n"B": true}}}}',
            ", line 3: mcpServers.a.env.B: must be a string, not a boolean",
        ),
        (
            '{"mcpServers": {"a": {"command": "x", "disabled": "yes"}}}',
            ", line 1: mcpServers.a.disabled: must be true or false, not a string",
        ),
        (
            '{"mcpServers": {"a": {"command": "x", "envFile": ".env"}}}',
            ", line 1: mcpServers.a.envFile: is not supported; write the variables into `env`",
        ),
        (
            '{"mcpServers": {"a": {"url": "h/mcp"}}}',
            ", line 1: mcpServers.a.url: must start with http:// or https://",
        ),
        (
            '{"mcpServers": {"a": {"command": "${NOPE}"}}}',
            ", line 1: mcpServers.a.command: ${NOPE}: the environment variable NOPE is not set",
        ),
        (
            '{"servers": {"a": {"command": "x", "args": ["${input:key}"]}}}',
            ", line 1: servers.a.args.0: ${input:key} asks an editor's user; write ${VAR} and set the variable",
        ),
    ],
)
def test_a_fault_is_named_with_file_line_and_key(tmp_path: Path, text: str, sentence: str) -> None:
    assert wrong(tmp_path, text) == sentence


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"nothing\.json: cannot be read: No such file or directory"):
        read_client_config(tmp_path / "nothing.json")
    (tmp_path / "mcp.json").write_bytes(b"{\xff")
    with pytest.raises(ConfigError, match="not UTF-8 at byte 1"):
        read_client_config(tmp_path / "mcp.json")


@given(st.text(st.sampled_from('{}[]",:/* \n\\au0eE+-.1tfn\ufeff\x00'), max_size=40))
def test_any_text_is_a_document_or_an_error_with_a_line_of_it(text: str) -> None:
    try:
        lines = set(read_jsonc(text).lines.values())
    except JsoncError as error:
        lines = {error.line}
    assert lines <= set(range(1, text.count("\n") + 2))
