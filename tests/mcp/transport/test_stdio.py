import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar, cast

import pytest

from toolvet.errors import UnreachableError
from toolvet.mcp.transport import (
    Answer,
    ConnectionLost,
    Malformed,
    McpSession,
    Reply,
    RpcError,
    StdioTarget,
    TimedOut,
    connect,
    open_session,
)

Hostile = Callable[[str], StdioTarget]
T = TypeVar("T")


def in_session(target: StdioTarget, talk: Callable[[McpSession], Awaitable[T]], limit: int | None = None) -> T:
    async def main() -> T:
        async with open_session(target, era="legacy", timeout=20, limit=limit) as session:
            return await talk(session)

    return asyncio.run(main())


def said(reply: Reply) -> str:
    assert isinstance(reply, Answer), reply
    content = cast("dict[str, list[dict[str, str]]]", reply.result)["content"]
    return content[0]["text"]


def kinds(session: McpSession) -> list[str]:
    return [anomaly.kind for anomaly in session.anomalies]


def test_noise_on_stdout_is_noted_and_hides_no_answer(hostile: Hostile) -> None:
    async def talk(session: McpSession) -> None:
        assert said(await session.call_tool("echo", {})) == "ok"
        assert said(await session.call_tool("echo", {})) == "ok"
        assert kinds(session)[:3] == ["noise"] * 3
        assert session.anomalies[0].evidence == "Debug: calling �echo"

    in_session(hostile("noise"), talk)


def test_answers_out_of_order_reach_their_requests(hostile: Hostile) -> None:
    async def talk(session: McpSession) -> list[str]:
        calls = [session.call_tool("echo", {"n": n}, timeout=10) for n in range(3)]
        return [said(reply) for reply in await asyncio.gather(*calls)]

    assert in_session(hostile("out_of_order"), talk) == ["0", "1", "2"]


def test_a_second_answer_and_answers_to_nothing_are_noted(hostile: Hostile) -> None:
    async def talk(session: McpSession) -> None:
        assert said(await session.call_tool("echo", {}, timeout=10)) == "first"
        # The next answer comes after the strays of the first call, so they have been read.
        await session.call_tool("echo", {}, timeout=10)
        assert kinds(session)[:3] == ["duplicate_answer", "unknown_id", "unknown_id"]

    in_session(hostile("twice"), talk)


def test_a_call_that_is_never_answered_times_out_and_is_cancelled(hostile: Hostile) -> None:
    async def talk(session: McpSession) -> None:
        assert isinstance(await session.call_tool("never", {}, timeout=0.05), TimedOut)
        heard = json.loads(said(await session.call_tool("what did you hear", {}, timeout=10)))
        assert [message["method"] for message in heard] == ["notifications/initialized", "notifications/cancelled"]
        assert heard[1]["params"] == {"requestId": 2, "reason": "timeout"}

    in_session(hostile("never"), talk)


def test_a_caller_that_is_cancelled_cancels_its_request(hostile: Hostile) -> None:
    async def talk(session: McpSession) -> None:
        call = asyncio.ensure_future(session.call_tool("never", {}))
        await session.request("ping")
        call.cancel()
        await asyncio.wait([call])
        heard = json.loads(said(await session.call_tool("what did you hear", {}, timeout=10)))
        assert heard[-1]["params"]["reason"] == "cancelled"

    in_session(hostile("never"), talk)


def test_an_answer_after_the_timeout_is_noted_as_late(hostile: Hostile) -> None:
    async def talk(session: McpSession) -> None:
        assert isinstance(await session.call_tool("never", {}, timeout=0.05), TimedOut)
        assert said(await session.call_tool("echo", {}, timeout=10)) == "ok"
        assert kinds(session) == ["late_answer"]

    in_session(hostile("late"), talk)


def test_a_server_that_dies_in_an_answer_is_lost_with_exit_code_and_last_words(hostile: Hostile) -> None:
    async def talk(session: McpSession) -> None:
        reply = await session.call_tool("echo", {}, timeout=10)
        assert isinstance(reply, ConnectionLost)
        assert (reply.reason, reply.exit_code, reply.stderr_tail) == ("the process ended", 7, "Traceback: it hurts")
        assert not session.peer.alive
        again = await session.call_tool("echo", {}, timeout=10)
        assert isinstance(again, ConnectionLost)
        assert again.exit_code == 7
        assert session.anomalies[0].evidence == '{"jsonrpc":"2.0","id":'

    in_session(hostile("dies"), talk)


def test_death_by_signal_shows_as_a_negative_exit_code(hostile: Hostile) -> None:
    async def talk(session: McpSession) -> None:
        reply = await session.call_tool("echo", {}, timeout=10)
        assert isinstance(reply, ConnectionLost)
        assert reply.exit_code == -signal.SIGKILL

    in_session(hostile("killed"), talk)


def test_a_server_that_closes_its_stdout_is_lost_though_it_lives(hostile: Hostile) -> None:
    async def talk(session: McpSession) -> None:
        reply = await session.call_tool("echo", {}, timeout=10)
        assert isinstance(reply, ConnectionLost)
        assert (reply.reason, reply.exit_code) == ("the process closed its stdout", None)

    in_session(hostile("closes_stdout"), talk)


def test_a_message_of_50_megabytes_arrives_whole(hostile: Hostile) -> None:
    async def talk(session: McpSession) -> int:
        return len(said(await session.call_tool("echo", {"bytes": 50_000_000}, timeout=60)))

    assert in_session(hostile("big"), talk) == 50_000_000


@pytest.mark.parametrize(
    "begin", ['{"jsonrpc":"2.0","id":ID,"result":"', '{"result":"', ""], ids=["id", "no-id", "noise"]
)
def test_an_endless_line_is_reported_to_the_request_that_waits_for_it(begin: str) -> None:
    """It used to fill the memory, or to let the request wait for its time-out."""
    program = """
import json, os, sys
begin = sys.argv[1]
for line in sys.stdin.buffer:
    message = json.loads(line)
    if message.get("method") == "initialize":
        info = {"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {"name": "x", "version": "1"}}
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": info}), flush=True)
    elif "id" in message:
        os.write(1, begin.replace("ID", str(message["id"])).encode())
        while True:
            os.write(1, b"x" * 65536)
"""

    async def talk(session: McpSession) -> None:
        reply = await session.request("tools/list")
        assert isinstance(reply, Malformed)
        assert "over the limit of 100,000 (max_message_bytes)" in reply.reason

    in_session(StdioTarget(sys.executable, ("-c", program, begin)), talk, limit=100_000)


def test_a_message_over_the_limit_is_reported_and_the_next_one_arrives(hostile: Hostile) -> None:
    async def talk(session: McpSession) -> None:
        reply = await session.call_tool("echo", {"bytes": 2_000_000}, timeout=20)
        assert isinstance(reply, Malformed)
        assert "over the limit of 1,000,000" in reply.reason
        assert said(await session.call_tool("echo", {"bytes": 10}, timeout=20)) == "x" * 10

    in_session(hostile("big"), talk, limit=1_000_000)


def test_full_pipes_on_both_sides_do_not_deadlock(hostile: Hostile) -> None:
    async def talk(session: McpSession) -> list[str]:
        calls = [session.call_tool("echo", {"padding": "p" * 1_000_000}, timeout=60) for _ in range(5)]
        return [said(reply) for reply in await asyncio.gather(*calls)]

    assert in_session(hostile("both_ways"), talk) == ["1000000"] * 5


def test_a_flood_on_stderr_blocks_nothing_and_its_end_is_kept(hostile: Hostile) -> None:
    async def talk(session: McpSession) -> None:
        assert said(await session.call_tool("echo", {}, timeout=30)) == "ok"
        assert said(await session.call_tool("echo", {}, timeout=30)) == "ok"
        assert session.peer.stderr.endswith(f"line 39999 {'z' * 90}\n")
        assert len(session.peer.stderr) == 64 * 1024

    in_session(hostile("stderr_flood"), talk)


def test_an_error_without_id_is_the_answer_to_the_only_open_request(hostile: Hostile) -> None:
    async def talk(session: McpSession) -> None:
        reply = await session.call_tool("echo", {}, timeout=10)
        assert isinstance(reply, RpcError)
        assert (reply.code, reply.message) == (-32700, "Parse error in tools/call")
        assert kinds(session) == ["null_id"]

    in_session(hostile("null_id"), talk)


def test_an_error_without_id_to_a_notification_answers_no_request(hostile: Hostile) -> None:
    async def talk(session: McpSession) -> None:
        assert said(await session.call_tool("echo", {}, timeout=10)) == "{}"
        assert len((await session.list_tools(timeout=10)).tools) == 1
        await session.peer.notify("notifications/roots/list_changed")
        assert said(await session.call_tool("echo", {}, timeout=10)) == "{}"
        assert kinds(session) == ["unknown_id"] * 2

    in_session(hostile("notices"), talk)


@pytest.mark.parametrize(
    ("mode", "reason"),
    [
        ("string_id", "the answer names id '2', a string; the request was 2"),
        ("both", "both `result` and `error`"),
        ("nan", "JSON is malformed: invalid character (byte 75)"),
        ("not_utf8", "the result is not JSON: not UTF-8: unexpected end of data at byte 3"),
        ("deep", "nested too deeply"),
    ],
)
def test_an_answer_that_is_not_a_legal_response_is_malformed(hostile: Hostile, mode: str, reason: str) -> None:
    async def talk(session: McpSession) -> None:
        reply = await session.call_tool("echo", {}, timeout=10)
        assert isinstance(reply, Malformed), reply
        assert reply.reason == reason
        assert session.peer.alive

    in_session(hostile(mode), talk)


def test_a_batch_is_noise(hostile: Hostile) -> None:
    async def talk(session: McpSession) -> None:
        assert isinstance(await session.call_tool("echo", {}, timeout=0.1), TimedOut)
        # Answered after the batch was written, however slow the server is.
        await session.request("ping", timeout=20)
        assert kinds(session) == ["noise"]

    in_session(hostile("batch"), talk)


def test_of_the_servers_requests_only_ping_and_announced_roots_are_answered(hostile: Hostile) -> None:
    async def main(roots: tuple[str, ...] | None) -> tuple[list[dict[str, object]], list[str]]:
        async with open_session(hostile("asks"), era="legacy", timeout=20, roots=roots) as session:
            replies = json.loads(said(await session.call_tool("echo", {}, timeout=10)))
            return replies, kinds(session)

    replies, odd = asyncio.run(main(None))
    assert replies[0] == {"jsonrpc": "2.0", "id": "q0", "result": {}}
    assert [cast("dict[str, object]", reply["error"])["code"] for reply in replies[1:]] == [-32601] * 3
    assert odd == ["unexpected_request"] * 3
    replies, odd = asyncio.run(main(("file:///srv",)))
    assert replies[1]["result"] == {"roots": [{"uri": "file:///srv"}]}
    assert odd == ["unexpected_request"] * 2


def test_progress_notifications_are_kept(hostile: Hostile) -> None:
    async def talk(session: McpSession) -> None:
        await session.call_tool("echo", {}, timeout=10, meta={"progressToken": "p"})
        assert [note.method for note in session.peer.notifications] == ["notifications/progress"] * 2
        assert session.peer.notifications[1].params == {"progressToken": "p", "progress": 2}

    in_session(hostile("progress"), talk)


def test_the_child_gets_no_variable_of_ours_but_the_harmless_ones(
    hostile: Hostile, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "do not tell")
    plain = hostile("environment")
    folder = tmp_path.resolve()
    target = StdioTarget(plain.command, plain.args, {"GIVEN": "yes"}, str(tmp_path))

    async def talk(session: McpSession) -> None:
        seen = json.loads(said(await session.call_tool("echo", {}, timeout=10)))
        assert seen["env"]["GIVEN"] == "yes"
        assert seen["env"]["PATH"] == os.environ["PATH"]
        assert Path(seen["cwd"]) == folder
        allowed = {"GIVEN", "HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER", "TMPDIR", "TZ", "LANG"}
        # Python sets LC_CTYPE itself under a C locale.
        assert {name for name in seen["env"] if not name.startswith("LC_")} <= allowed

    in_session(target, talk)


def test_waiting_is_counted_once_for_requests_that_wait_together(hostile: Hostile) -> None:
    async def talk(session: McpSession) -> None:
        before = session.wait_seconds
        calls = [session.call_tool("never", {}, timeout=0.2) for _ in range(10)]
        replies = await asyncio.gather(*calls)
        waited = session.wait_seconds - before
        longest = max(reply.duration for reply in replies)
        assert longest <= waited < 2 * longest

    in_session(hostile("never"), talk)


@pytest.mark.parametrize("mode", ["plain", "spawns", "stubborn"])
def test_leaving_ends_the_process_and_what_it_started(hostile: Hostile, runs: Callable[[int], bool], mode: str) -> None:
    async def main() -> list[int]:
        async with open_session(hostile(mode), era="legacy", timeout=20, grace=0.2) as session:
            pids = [int(pid) for pid in session.instructions.split()]
            assert all(runs(pid) for pid in pids)
            return pids

    assert not any(runs(pid) for pid in asyncio.run(main()))


def test_a_cancelled_block_leaves_no_process(hostile: Hostile, runs: Callable[[int], bool]) -> None:
    pids: list[int] = []

    async def stay() -> None:
        async with open_session(hostile("stubborn"), era="legacy", timeout=20, grace=300) as session:
            pids.extend(int(pid) for pid in session.instructions.split())
            opened.set()
            await asyncio.Event().wait()

    async def main() -> None:
        task = asyncio.ensure_future(stay())
        await opened.wait()
        # Twice: the second one does not wait for the grace period.
        task.cancel()
        await closing_began()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    async def closing_began() -> None:
        while not any("_end" in repr(task) for task in asyncio.all_tasks()):  # noqa: ASYNC110 - there is no event to wait for.
            await asyncio.sleep(0)

    opened = asyncio.Event()
    asyncio.run(main())
    assert len(pids) == 2
    assert not any(runs(pid) for pid in pids)


def test_a_child_that_holds_stdout_open_does_not_hide_the_exit(hostile: Hostile, runs: Callable[[int], bool]) -> None:
    async def main() -> ConnectionLost:
        async with connect(hostile("leaves_child_and_exits")) as peer:
            reply = await peer.request("initialize", {}, timeout=20)
            assert isinstance(reply, ConnectionLost)
            return reply

    reply = asyncio.run(main())
    assert reply.exit_code == 4
    assert not runs(int(reply.stderr_tail))


SCRIPT = """
import asyncio, sys
from toolvet.mcp.transport import StdioTarget, open_session

async def main():
    target = StdioTarget(sys.executable, (sys.argv[1], "stubborn"))
    async with open_session(target, era="legacy", timeout=20, grace=300) as session:
        print(session.instructions, flush=True)
        try:
            await asyncio.Event().wait()
        finally:
            print("interrupted", flush=True)

asyncio.run(main())
"""


@pytest.mark.parametrize("presses", [1, 2])
def test_ctrl_c_leaves_no_process(ends: Callable[[int], bool], presses: int) -> None:
    server = str(Path(__file__).parent / "hostile_server.py")
    with subprocess.Popen(
        [sys.executable, "-c", SCRIPT, server], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        pids = [int(pid) for pid in process.stdout.readline().split()]
        assert len(pids) == 2
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == "interrupted\n"
        if presses == 2:
            process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=60)
    assert "KeyboardInterrupt" in stderr
    assert all(ends(pid) for pid in pids)


def test_a_command_that_cannot_start_is_unreachable_with_the_reason(tmp_path: Path) -> None:
    not_executable = tmp_path / "server.py"
    not_executable.write_text("print()")
    cases = [
        (StdioTarget("no-such-program", ("--port", "1")), "there is no program named no-such-program"),
        (StdioTarget(str(tmp_path / "nothing")), "there is no file"),
        (StdioTarget(str(not_executable)), "is not executable"),
        (StdioTarget(sys.executable, cwd=str(tmp_path / "gone")), "there is no folder"),
        (StdioTarget("a\0b"), "null byte"),
    ]

    async def start(target: StdioTarget) -> None:
        async with connect(target):
            pass

    for target, words in cases:
        with pytest.raises(UnreachableError, match=words):
            asyncio.run(start(target))
