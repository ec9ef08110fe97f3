"""Configuration files of clients, put behind the proxy and taken back."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from toolvet.errors import ConfigError, UsageError
from toolvet.mcp.transport.client_config import read_jsonc
from toolvet.proxy.install.entries import Change, Wrapper, inner_command, plan_install, plan_uninstall
from toolvet.proxy.install.file import backup_of, install, uninstall

WRAPPER = Wrapper(("/opt/bin/toolvet",), ("--store", "calls.db"))

CLAUDE = """{
  "mcpServers": {
    "time": {
      "command": "uvx",
      "args": ["mcp-server-time", "--local-timezone=Europe/Berlin"]
    },
    "git": { "command": "mcp-server-git" }
  },
  "globalShortcut": "Ctrl+Space"
}
"""

VSCODE = """// What the team uses
{
    "inputs": [{"id": "key", "type": "promptString", "password": true}],
    "servers": {
        /* the calendar */
        "calendar": {
            "type": "stdio",
            "command": "npx", // Node 22
            "args": [
                "-y",
                "@acme/calendar",   // pinned by npm
                "${input:key}",
            ],
            "env": {"LEVEL": "debug"},
            "envFile": "${workspaceFolder}/.env",
        },
        "remote": {"type": "http", "url": "https://example.com/mcp", "headers": {"X-Key": "${input:key}"}},
    },
}"""

ONE_LINE = '{"mcpServers":{"a":{"args":[],"command":"a"},"b":{"command":"b","env":{"X":"1"}}}}'
CLAUDE_CODE = (
    '{"projects": {"/home/me/x": {"mcpServers": {"db": {"type": "stdio", "command": "db", "args": ["--ro"]}}}}}\n'
)
SETTINGS = '{"editor.tabSize": 2,\n "mcp": {"servers": {"x": {"command": "x"}}}}'
TEXTS = {"claude": CLAUDE, "vscode": VSCODE, "one line": ONE_LINE, "claude code": CLAUDE_CODE, "settings": SETTINGS}
TEXTS["windows"] = "\ufeff" + CLAUDE.replace("\n", "\r\n")


def decoded(text: str) -> Any:
    return read_jsonc(text).value


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_what_is_installed_and_not_edited_comes_back_letter_by_letter(text: str) -> None:
    plan = plan_install(text, None, WRAPPER)
    assert plan.text != text
    assert plan.before == text
    assert plan_uninstall(plan.text, plan.before).text == text


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_without_the_backup_the_same_servers_come_back(text: str) -> None:
    plan = plan_install(text, None, WRAPPER)
    assert decoded(plan_uninstall(plan.text, None).text) == decoded(text) or text == ONE_LINE
    # An empty list of arguments and none mean the same, and cannot be distinguished any more.


def test_a_server_starts_through_toolvet_under_its_name_with_all_its_words() -> None:
    servers = decoded(plan_install(CLAUDE, None, WRAPPER).text)["mcpServers"]
    assert servers["time"] == {
        "command": "/opt/bin/toolvet",
        "args": [
            *("proxy", "--name", "time", "--store", "calls.db", "--"),
            *("uvx", "mcp-server-time", "--local-timezone=Europe/Berlin"),
        ],
    }
    assert inner_command(servers["git"]) == ("mcp-server-git", [])


def test_comments_and_everything_else_of_an_entry_stay_where_they_are() -> None:
    text = plan_install(VSCODE, None, WRAPPER).text
    assert "// What the team uses" in text
    assert "/* the calendar */" in text
    assert '"/opt/bin/toolvet", // Node 22' in text
    assert decoded(text)["servers"]["calendar"]["env"] == {"LEVEL": "debug"}
    assert decoded(text)["servers"]["calendar"]["envFile"] == "${workspaceFolder}/.env"
    assert decoded(text)["inputs"] == decoded(VSCODE)["inputs"]


def test_a_member_that_is_added_stands_on_a_line_of_its_own_where_members_do() -> None:
    text = plan_install(
        CLAUDE.replace('{ "command": "mcp-server-git" }', '{\n      "command": "g"\n    }'), None, WRAPPER
    )
    assert '"command": "/opt/bin/toolvet",\n      "args": ["proxy", "--name", "git"' in text.text


def test_a_server_at_a_url_starts_through_toolvet_and_no_secret_of_it_stands_among_the_words() -> None:
    server = decoded(plan_install(VSCODE, None, WRAPPER).text)["servers"]["remote"]
    assert server == {
        "type": "stdio",
        "command": "/opt/bin/toolvet",
        "args": [
            *("proxy", "--name", "remote", "--store", "calls.db"),
            *("--header-env", "X-Key=TOOLVET_HEADER_X_KEY", "https://example.com/mcp"),
        ],
        "env": {"TOOLVET_HEADER_X_KEY": "${input:key}"},
    }


REMOTE = r"""{
  "mcpServers": {
    "books": {
      // by the library
      "transport": "streamable-http",
      "serverUrl": "https:\/\/books.example/mcp",
      "disabled": false,
      "headers": {
        "\u0041uthorization": "Bearer abc", /* until May */
        "X-A": "1",
        "X_A": "2"
      }
    },
    "local": {"url": "http://127.0.0.1:8000/mcp", "headers": {}}
  }
}"""


def test_a_server_at_a_url_comes_back_letter_by_letter_whatever_its_letters() -> None:
    plan = plan_install(REMOTE, None, WRAPPER)
    books, local = decoded(plan.text)["mcpServers"].values()
    assert list(books["env"].values()) == ["Bearer abc", "1", "2"]
    assert len(set(books["env"])) == 3
    assert local["args"][-1] == "http://127.0.0.1:8000/mcp"
    assert plan_install(plan.text, plan.before, WRAPPER).text == plan.text
    assert plan_uninstall(plan.text, plan.before).text == REMOTE


def test_a_header_that_was_edited_in_between_stays_edited() -> None:
    plan = plan_install(REMOTE, None, WRAPPER)
    back = plan_uninstall(plan.text.replace("Bearer abc", "Bearer xyz"), plan.before).text
    assert back == REMOTE.replace("Bearer abc", "Bearer xyz")


@pytest.mark.parametrize(
    ("entry", "done"),
    [
        ({"url": "https://a.example/mcp"}, "sign_in"),
        ({"url": "https://a.example/mcp", "oauth": {}, "headers": {"A": "b"}}, "sign_in"),
        ({"url": "https://a.example/sse", "headers": {"A": "b"}}, "remote"),
        ({"type": "sse", "url": "https://a.example/", "headers": {"A": "b"}}, "remote"),
        ({"url": "https://a.example/mcp", "headers": {"A": 1}}, "remote"),
        ({"url": "https://a.example/mcp", "headers": {"A B": "c"}}, "remote"),
        ({"url": "https://a.example/mcp", "headers": "A: b"}, "remote"),
        ({"url": "https://a.example/mcp", "env": {}, "headers": {"A": "b"}}, "remote"),
        ({"url": "https://a.example/mcp?api_key=abc", "headers": {"A": "b"}}, "secret"),
        ({"url": "https://me:abc@a.example/mcp"}, "secret"),
        ({"url": "https://a.example/${input:key}"}, "secret"),
    ],
)
def test_a_server_at_a_url_that_toolvet_could_not_stand_for_stays(entry: dict[str, object], done: str) -> None:
    text = json.dumps({"mcpServers": {"a": entry}})
    plan = plan_install(text, None, WRAPPER)
    assert (plan.text, [change.done for change in plan.changes]) == (text, [done])


def test_a_server_without_credentials_is_put_behind_toolvet_by_name() -> None:
    text = '{"mcpServers": {"a": {"url": "https://a.example/mcp"}}}'
    plan = plan_install(text, None, WRAPPER, ["a"])
    assert plan.changes == (Change("a", "wrapped"),)
    assert plan_uninstall(plan.text, plan.before).text == text


def test_installing_twice_changes_nothing_the_second_time() -> None:
    first = plan_install(CLAUDE, None, WRAPPER)
    second = plan_install(first.text, first.before, WRAPPER)
    assert second.text == first.text
    assert second.before == CLAUDE
    assert {change.done for change in second.changes} == {"already"}


def test_servers_installed_one_by_one_come_back_as_exactly_as_all_at_once() -> None:
    first = plan_install(CLAUDE, None, WRAPPER, ["git"])
    assert Change("time", "untouched") in first.changes
    second = plan_install(first.text, first.before, WRAPPER, ["time"])
    assert second.before == CLAUDE
    assert plan_uninstall(second.text, second.before).text == CLAUDE


def test_one_server_of_two_is_taken_back_and_the_other_stays() -> None:
    plan = plan_install(CLAUDE, None, WRAPPER)
    back = plan_uninstall(plan.text, plan.before, ["git"])
    servers = decoded(back.text)["mcpServers"]
    assert servers["git"] == {"command": "mcp-server-git"}
    assert inner_command(servers["time"]) is not None
    assert plan_uninstall(back.text, plan.before).text == CLAUDE


def test_what_was_edited_in_between_stays_edited() -> None:
    plan = plan_install(VSCODE, None, WRAPPER)
    edited = plan.text.replace('"LEVEL": "debug"', '"LEVEL": "info"').replace("// What the team uses", "// Ours")
    edited = edited.replace('"inputs"', '"added": {"servers": 1},\n    "inputs"')
    back = plan_uninstall(edited, plan.before).text
    expected = VSCODE.replace('"LEVEL": "debug"', '"LEVEL": "info"').replace("// What the team uses", "// Ours")
    assert back == expected.replace('"inputs"', '"added": {"servers": 1},\n    "inputs"')


def test_an_argument_that_was_edited_in_between_wins_over_the_backup() -> None:
    plan = plan_install(CLAUDE, None, WRAPPER)
    edited = plan.text.replace("Europe/Berlin", "Europe/Oslo")
    assert decoded(plan_uninstall(edited, plan.before).text)["mcpServers"]["time"]["args"] == [
        "mcp-server-time",
        "--local-timezone=Europe/Oslo",
    ]


def test_a_program_that_is_only_called_like_ours_is_not_ours() -> None:
    assert inner_command({"command": "toolvet", "args": ["assess", "--", "x"]}) is None
    assert inner_command({"command": "toolvet-helper", "args": ["proxy", "--", "x"]}) is None
    assert inner_command({"command": "C:\\bin\\toolvet.exe", "args": ["proxy", "--", "x", 1]}) == ("x", [1])
    assert inner_command({"command": "python", "args": ["-m", "toolvet", "proxy", "--", "x"]}) == ("x", [])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"mcpServers": {"a": {"command": "a",}}', "ends before"),
        ('{"theme": "dark"}', "names no servers"),
        ("[]", "names no servers"),
    ],
)
def test_a_file_that_is_no_configuration_is_refused_with_the_reason(text: str, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        plan_install(text, None, WRAPPER)


def test_a_server_that_is_not_there_is_named_beside_those_that_are() -> None:
    with pytest.raises(ConfigError, match="no server 'tme'; it has time, git"):
        plan_install(CLAUDE, None, WRAPPER, ["tme"])


@pytest.mark.parametrize("entry", ['"x"', "null", "{}", '{"command": ""}', '{"command": "x", "args": "y"}', "[1]"])
def test_an_entry_that_cannot_be_started_is_left_alone(entry: str) -> None:
    text = f'{{"mcpServers": {{"odd": {entry}}}}}'
    plan = plan_install(text, None, WRAPPER)
    assert plan.text == text
    assert plan.changes == (Change("odd", "unreadable"),)


remotes = st.fixed_dictionaries(
    {"url": st.just("http://localhost/mcp")},
    optional={
        "type": st.sampled_from(["http", "streamable-http"]),
        "headers": st.dictionaries(st.from_regex(r"[A-Za-z_-]{1,3}", fullmatch=True), st.text(max_size=5), max_size=3),
        "timeout": st.integers(),
    },
)
names = st.text(min_size=1, max_size=8)
entries = st.fixed_dictionaries(
    {"command": names}, optional={"args": st.lists(names, max_size=3), "env": st.dictionaries(names, names, max_size=2)}
)


@given(
    servers=st.dictionaries(names, entries | remotes, min_size=1, max_size=4),
    indent=st.sampled_from([None, 0, 2, "\t"]),
    key=st.sampled_from(["mcpServers", "servers"]),
)
def test_any_configuration_comes_back_letter_by_letter(
    servers: dict[str, dict[str, object]], indent: int | str | None, key: str
) -> None:
    text = json.dumps({key: servers}, indent=indent)
    plan = plan_install(text, None, WRAPPER)
    wrapped = decoded(plan.text)[key]
    for name, entry in servers.items():
        if "url" in entry:
            assert wrapped[name]["args"][-1] == entry["url"]
        elif inner_command(entry) is None:
            assert inner_command(wrapped[name]) == (entry["command"], entry.get("args", []))
    assert plan_uninstall(plan.text, plan.before).text == text


# ── files ──


def test_a_file_is_backed_up_rewritten_and_restored_to_the_byte(tmp_path: Path) -> None:
    path = tmp_path / "mcp.json"
    path.write_bytes(TEXTS["windows"].encode())
    path.chmod(0o600)
    install(path, WRAPPER)
    assert backup_of(path).read_bytes() == TEXTS["windows"].encode()
    assert backup_of(path).stat().st_mode & 0o777 == 0o600
    assert path.stat().st_mode & 0o777 == 0o600
    uninstall(path)
    assert path.read_bytes() == TEXTS["windows"].encode()
    assert [file.name for file in tmp_path.iterdir()] == ["mcp.json"]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    real = tmp_path / "dotfiles.json"
    real.write_text(CLAUDE, encoding="utf-8")
    link = tmp_path / "mcp.json"
    link.symlink_to(real)
    install(link, WRAPPER)
    assert link.is_symlink()
    assert "toolvet" in real.read_text(encoding="utf-8")
    uninstall(link)
    assert real.read_text(encoding="utf-8") == CLAUDE


def test_the_backup_of_an_edited_file_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "mcp.json"
    path.write_text(CLAUDE, encoding="utf-8")
    install(path, WRAPPER)
    path.write_text(path.read_text(encoding="utf-8").replace("Ctrl", "Alt"), encoding="utf-8")
    uninstall(path)
    assert path.read_text(encoding="utf-8") == CLAUDE.replace("Ctrl", "Alt")
    assert backup_of(path).read_text(encoding="utf-8") == CLAUDE


def test_errors_name_the_file_and_the_line(tmp_path: Path) -> None:
    path = tmp_path / "mcp.json"
    path.write_text('{\n"servers": {\n"a" 1}}', encoding="utf-8")
    with pytest.raises(ConfigError, match=r"mcp\.json, line 3"):
        install(path, WRAPPER)
    with pytest.raises(UsageError, match=r"none\.json"):
        install(tmp_path / "none.json", WRAPPER)
