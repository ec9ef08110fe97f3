import asyncio
import shlex

import pytest

from toolvet.errors import UsageError
from toolvet.mcp.transport import HttpTarget, StdioTarget, connect, open_session
from toolvet.mcp.transport.target import last_lines, looks_secret, mask_url, printable

SECRET = "s3cr3t"


@pytest.mark.parametrize(
    ("target", "shown"),
    [
        (StdioTarget("uvx", ("mcp-server-time",)), "uvx mcp-server-time"),
        (StdioTarget("/opt/my server", ("a b", "c'd", "$HOME")), "'/opt/my server' 'a b' 'c'\"'\"'d' '$HOME'"),
        (StdioTarget("srv", env={"API_KEY": SECRET, "LOG": SECRET}), 'env API_KEY="$API_KEY" LOG="$LOG" srv'),
        (StdioTarget("srv", env={"odd-name": SECRET}, cwd="/x y"), "env -C '/x y' odd-name=*** srv"),
        (StdioTarget("srv", ("--api-key", SECRET, "--port", "1")), "srv --api-key '***' --port 1"),
        (StdioTarget("srv", (f"--token={SECRET}", f"PASSWORD={SECRET}")), "srv '--token=***' 'PASSWORD=***'"),
        (StdioTarget("srv", ("--token", "--verbose")), "srv --token --verbose"),
        (StdioTarget("srv", ("-H", f"Authorization: Bearer {SECRET}")), "srv -H 'Authorization: ***'"),
        (StdioTarget("srv", (f"postgres://u:{SECRET}@db/x",)), "srv 'postgres://***@db/x'"),
        (StdioTarget("srv", ("ghp_0123456789abcdefghijABCDEFGHIJ012345",)), "srv '***'"),
        (StdioTarget("srv", (f"--db=postgres://u:{SECRET}@db/x",)), "srv '--db=postgres://***@db/x'"),
        (StdioTarget("srv", ("--author", "me", "--keyboard=us", "--tokenizer", "x")), None),
        (HttpTarget("http://127.0.0.1:8000/mcp"), "http://127.0.0.1:8000/mcp"),
        (
            HttpTarget(f"https://u:{SECRET}@h/mcp?apiKey={SECRET}&page=1#x", {"Authorization": f"Bearer {SECRET}"}),
            "'https://***@h/mcp?apiKey=***&page=1' --header 'Authorization: ***'",
        ),
        (HttpTarget("http://h", {"X-Anything": SECRET, "Accept": "text/x"}), None),
    ],
)
def test_a_target_is_shown_ready_to_paste_and_without_its_secrets(
    target: StdioTarget | HttpTarget, shown: str | None
) -> None:
    described = target.describe()
    assert shown is None or described == shown
    assert SECRET not in described
    assert SECRET not in repr(target)
    shlex.split(described)
    if shown is None and isinstance(target, StdioTarget):
        assert "***" not in described


@pytest.mark.parametrize(
    "name",
    [
        "password",
        "API_KEY",
        "apiKey",
        "x-api-key",
        "--access-token",
        "GITHUB_PAT",
        "client_secret",
        "Set-Cookie",
        "sig",
    ],
)
def test_names_of_secrets_look_secret(name: str) -> None:
    assert looks_secret(name)


@pytest.mark.parametrize("name", ["author", "keyboard", "monkey", "tokenizer", "path", "pattern", "signal", "compass"])
def test_names_that_only_resemble_them_do_not(name: str) -> None:
    assert not looks_secret(name)


def test_a_url_that_cannot_be_parsed_is_shown_without_what_may_be_secret() -> None:
    assert SECRET not in mask_url(f"http://u:{SECRET}@[::1?token={SECRET}")


def test_foreign_text_is_printed_without_control_characters_and_cut() -> None:
    assert printable(b"\x1b[31mred\x1b[0m\x07 \xff\x1b]0;title\x07end\r\n") == "red �end\n"
    assert printable("\u202eabc\u2066") == "abc"
    assert printable("x" * 100, 10) == "xxxxxxxxx…"
    assert printable(b"\xc3\xa4" * 10, 10) == "ä" * 10


def test_the_last_lines_are_those_with_words() -> None:
    assert last_lines("a\n\n  \nb \nc\n", 2) == "b\nc"
    assert last_lines("") == ""


@pytest.mark.parametrize("url", ["ftp://example.org", "example.org/mcp", "http://", "http://[::1"])
def test_a_text_that_is_not_a_url_is_a_usage_error(url: str) -> None:
    async def main() -> None:
        async with connect(HttpTarget(url)):
            pass

    with pytest.raises(UsageError, match=r"is not (a|the) URL"):
        asyncio.run(main())


def test_a_header_that_cannot_be_sent_is_a_wrong_use() -> None:
    async def main() -> None:
        async with open_session(HttpTarget("http://127.0.0.1:1", {"X-Name": "a\nb"})):
            pass

    with pytest.raises(UsageError, match="cannot be sent"):
        asyncio.run(main())
