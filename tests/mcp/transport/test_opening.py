import asyncio
import sys
from collections.abc import Callable
from typing import Literal

import pytest

from toolvet.errors import UnreachableError
from toolvet.mcp.transport import Answer, Listing, McpSession, RpcError, StdioTarget, open_session, opening

Hostile = Callable[[str], StdioTarget]
Era = Literal["auto", "legacy", "modern"]


def opened(target: StdioTarget, era: Era = "auto", timeout: float = 20) -> McpSession:
    """The session, closed again."""

    async def main() -> McpSession:
        async with open_session(target, era=era, timeout=timeout) as session:
            return session

    return asyncio.run(main())


def listed(target: StdioTarget) -> Listing:
    async def main() -> Listing:
        async with open_session(target, era="legacy", timeout=20) as session:
            return await session.list_tools(timeout=20)

    return asyncio.run(main())


def odd(session: McpSession) -> list[tuple[str, str]]:
    return [(anomaly.kind, anomaly.evidence) for anomaly in session.anomalies]


def test_a_legacy_server_is_found_by_its_refusal_and_keeps_its_process(hostile: Hostile) -> None:
    session = opened(hostile("plain"))
    assert (session.era, session.protocol_version) == ("legacy", "2025-11-25")
    assert (session.server_name, session.server_version) == ("hostile", "1")
    assert session.capabilities == {"tools": {}}
    assert odd(session) == []


@pytest.mark.parametrize(
    ("mode", "why"),
    [
        ("dies_on_discover", "the process ended with exit code 3"),
        ("locks", 'refused with -32600 "wrong era"'),
    ],
)
def test_a_server_that_discover_spoils_gets_a_fresh_process(hostile: Hostile, mode: str, why: str) -> None:
    session = opened(hostile(mode))
    assert session.era == "legacy"
    assert odd(session) == [("opening_refused", f"server/discover first, then initialize: {why}")]
    assert session.wait_seconds > session.peer.wait_seconds


def test_a_server_that_hangs_on_discover_hears_initialize_on_the_same_channel(
    hostile: Hostile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opening, "PATIENCE", 0.05)
    session = opened(hostile("hangs_on_discover"))
    assert session.era == "legacy"
    assert odd(session) == []


def test_a_slow_modern_server_is_modern_and_its_refusal_of_our_second_question_is_not_odd(
    hostile: Hostile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opening, "PATIENCE", 0.05)

    async def main() -> McpSession:
        async with open_session(hostile("slow_modern"), timeout=20) as session:
            await session.call_tool("echo", {}, timeout=20)
            return session

    session = asyncio.run(main())
    assert (session.era, session.server_name, session.server_version) == ("modern", "slow", "2")
    assert odd(session) == []


def test_a_server_that_hangs_for_good_after_discover_gets_a_fresh_process(
    hostile: Hostile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opening, "PATIENCE", 0.05)
    session = opened(hostile("hangs_after_discover"), timeout=2)
    assert session.era == "legacy"
    assert odd(session)[0][0] == "opening_refused"


def test_an_empty_answer_to_discover_does_not_make_a_server_modern(hostile: Hostile) -> None:
    assert opened(hostile("answers_anything")).era == "legacy"


def test_an_error_that_only_modern_servers_know_makes_a_server_modern(hostile: Hostile) -> None:
    session = opened(hostile("modern_but_strict"))
    assert (session.era, session.protocol_version, session.server_name) == ("modern", "2026-07-28", "")
    assert odd(session)[0][0] == "illegal_opening"


def test_a_server_that_supports_only_legacy_versions_is_spoken_to_in_one(hostile: Hostile) -> None:
    assert opened(hostile("other_modern")).era == "legacy"


def test_a_version_that_does_not_exist_is_taken_and_noted(hostile: Hostile) -> None:
    session = opened(hostile("from_the_future"), "legacy")
    assert session.protocol_version == "2099-01-01"
    assert odd(session) == [("protocol_version", "initialize answered protocolVersion 2099-01-01")]


def test_an_introduction_of_the_wrong_shape_is_noted_and_read_as_far_as_possible(hostile: Hostile) -> None:
    session = opened(hostile("introduces_nothing"), "legacy")
    assert (session.server_name, session.protocol_version, session.capabilities) == ("", "", {})
    assert odd(session)[0][0] == "illegal_opening"


@pytest.mark.parametrize("module", ["mcp_server_time", "mcp_server_git"])
@pytest.mark.parametrize(
    ("era", "spoken", "version"),
    [
        ("auto", "modern", "2026-07-28"),
        ("modern", "modern", "2026-07-28"),
        ("legacy", "legacy", "2025-11-25"),
    ],
)
def test_a_real_server_is_spoken_to_in_both_eras(module: str, era: Era, spoken: str, version: str) -> None:
    async def main() -> None:
        async with open_session(StdioTarget(sys.executable, ("-m", module)), era=era, timeout=60) as session:
            assert (session.era, session.protocol_version) == (spoken, version)
            assert session.server_name == module.replace("mcp_server_", "mcp-")
            assert session.server_version == "2026.10.19"
            listing = await session.list_tools(timeout=30)
            assert (listing.problems, listing.pages, listing.failure) == ((), 1, None)
            assert len(listing.tools) == {"mcp_server_time": 2, "mcp_server_git": 12}[module]
            unknown = await session.call_tool("no_such_tool", {}, timeout=30)
            assert isinstance(unknown, RpcError)
            assert (unknown.code, unknown.message) == (-32602, "Unknown tool: no_such_tool")
            if module == "mcp_server_time":
                answer = await session.call_tool("get_current_time", {"timezone": "UTC"}, timeout=30)
                assert isinstance(answer, Answer)
            assert session.anomalies == ()

    asyncio.run(main())


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        (
            ("echo", "hi"),
            '`echo hi` is not an MCP server: it printed "hi", which is not JSON-RPC, and ended with exit code 0',
        ),
        (("false",), "`false` ended with exit code 1 before it spoke MCP; it wrote nothing to stderr"),
        (
            ("cat",),
            "`cat` opens no MCP session: it answered with something that is not JSON-RPC: it sent our own request back",
        ),
    ],
)
def test_a_program_that_is_not_a_server_is_named_with_what_it_did(command: tuple[str, ...], sentence: str) -> None:
    with pytest.raises(UnreachableError) as caught:
        opened(StdioTarget(command[0], command[1:]))
    assert str(caught.value) == sentence


def test_a_server_that_exits_is_quoted_without_its_control_characters(hostile: Hostile) -> None:
    with pytest.raises(UnreachableError) as caught:
        opened(hostile("exits"))
    assert str(caught.value).endswith(
        "hostile_server.py exits` ended with exit code 2 before it spoke MCP; its stderr ends with:\n"
        "Error: cannot open config.yaml\n"
        "hint: run setup first"
    )


def test_a_silent_server_is_named_with_the_time_we_waited(hostile: Hostile) -> None:
    with pytest.raises(UnreachableError, match=r"did not answer within 0\.5 s. If it starts slowly, raise --timeout"):
        opened(hostile("silent"), "legacy", timeout=0.5)


def test_garbage_before_the_first_message_is_noise(hostile: Hostile) -> None:
    session = opened(hostile("garbage"))
    assert [kind for kind, _ in odd(session)] == ["noise"] * len(session.anomalies)
    assert odd(session)[-1][1] == "Welcome to the shop! Type help."


def test_a_refused_handshake_is_quoted(hostile: Hostile) -> None:
    with pytest.raises(UnreachableError, match='opens no MCP session: it refused with -32600 "wrong era"'):
        opened(hostile("refuses"))


def test_an_empty_string_is_a_cursor_and_a_cycle_ends_the_listing(hostile: Hostile) -> None:
    listing = listed(hostile("cycle"))
    assert [tool["name"] for tool in listing.tools if isinstance(tool, dict)] == ["after None", "after ", "after b"]
    assert [(problem.kind, problem.evidence) for problem in listing.problems] == [
        ("cursor_cycle", "page 3: '' came before")
    ]


def test_a_listing_without_end_is_ended(hostile: Hostile) -> None:
    listing = listed(hostile("endless"))
    assert (listing.pages, len(listing.tools), listing.problems[0].kind) == (1000, 1000, "too_many_pages")


def test_an_illegal_tool_hides_no_other(hostile: Hostile) -> None:
    listing = listed(hostile("illegal_tools"))
    assert len(listing.tools) == 5
    assert listing.tools[1:4] == ({"name": 7, "inputSchema": None}, None, "tool")


@pytest.mark.parametrize(
    ("mode", "tools", "kind"),
    [
        ("second_page_fails", 1, "page_failed"),
        ("no_tools", 0, "bad_page"),
        ("null_cursor", 1, "bad_cursor"),
        ("number_cursor", 1, "bad_cursor"),
    ],
)
def test_a_fault_of_a_page_is_a_problem(hostile: Hostile, mode: str, tools: int, kind: str) -> None:
    listing = listed(hostile(mode))
    assert (len(listing.tools), [problem.kind for problem in listing.problems]) == (tools, [kind])
    assert isinstance(listing.failure, RpcError) == (mode == "second_page_fails")
