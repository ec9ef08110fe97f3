"""`run_hook`: a client's event on stdin → the answer for it; a fault of ours lets the client go on."""

import os
import signal
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from toolvet.agents.hook.dialect import Client, HookAnswer, HookDialect, HookEvent, dialect_of, read_event, write_answer
from toolvet.errors import ToolvetError, could_not_check
from toolvet.proxy.session import ProxySettings

if TYPE_CHECKING:
    from toolvet.agents.settings import HookSettings
    from toolvet.core.settings import Settings

MOST_INPUT_BYTES: Final = 32 * 2**20
MOST_TRANSCRIPT_BYTES: Final = 4 * 2**20
_SECONDS: Final = 20
# Copilot writes its transcript up to a tenth of a second after it has asked the hook, on a quiet machine.
_TRANSCRIPT_SECONDS: Final = 1.0
_LOOK_SECONDS: Final = 0.05


class _OutOfTimeError(Exception):
    """The hook took longer than a client should wait."""


# What may go wrong in a hook that works: its input, its settings, its files, its time.
_NO_BUGS: Final = (ToolvetError, OSError, UnicodeError, msgspec.DecodeError, _OutOfTimeError)


def run_hook(client: Client, settings: str | None = None) -> int:
    """Answer the event on stdin. Returns 0: a fault goes to the log, is shown once a day, and the client goes on."""
    try:
        try:
            with _in_time():
                stream = getattr(sys.stdin, "buffer", None)
                given = (
                    stream.read(MOST_INPUT_BYTES) if isinstance(stream, BufferedReader) else sys.stdin.read().encode()
                )
                answer = hook_answer(client, given, settings)
        except Exception as error:  # noqa: BLE001 - whatever it is, the client must not suffer from it
            from toolvet.core.redact import redact_text  # noqa: PLC0415 - only where something went wrong

            if isinstance(error, _NO_BUGS):
                words = f"could not be checked: {type(error).__name__}: {redact_text(str(error))}"
            else:
                words = could_not_check(error)
            answer = write_answer(dialect_of(client), HookEvent("other", ""), _notice(client, f"this event {words}"))
        sys.stdout.buffer.write(answer)
        sys.stdout.flush()
    except BaseException:  # noqa: BLE001, S110 - as above; there is no log left to write to
        pass
    return 0


def _notice(client: Client, text: str) -> HookAnswer | None:
    """Write to the log what was not checked; return what the client shows the user, if the log does not have it yet."""
    from toolvet.agents.hook.private import log  # noqa: PLC0415 - only where something was not checked

    return HookAnswer("notice", f"toolvet: {text}") if log(f"{client}: {text}") else None


def hook_answer(client: Client, given: bytes, settings: str | None = None) -> bytes:
    """Return what to print for this input; raises where it cannot be read."""
    dialect = dialect_of(client)
    event = read_event(dialect, msgspec.json.decode(given))
    if event.folder and Path(event.folder).is_dir():
        os.chdir(event.folder)
    if event.moment in ("before", "after"):
        return write_answer(dialect, event, _of_call(client, dialect, event, settings))
    if event.moment in ("end", "hand_back") and not event.continued:
        return write_answer(dialect, event, _of_end(event, settings))
    return b""


def _of_call(client: Client, dialect: HookDialect, event: HookEvent, given: str | None) -> HookAnswer | None:
    # Most calls are of tools of the client itself, not of an MCP server.
    head, _, behind = dialect.tools.prefix.partition("{server}")
    if not event.server and not (event.tool.startswith(head) and behind in event.tool[len(head) :]):
        return None
    from toolvet.agents.hook.servers import server_of, servers_of  # noqa: PLC0415 - an end needs none of it

    found = server_of(client, dialect, event)
    # The names of Copilot's own tools may look like those of a server.
    if found is None and (event.moment == "before" or not (head or event.server)):
        return None
    from toolvet.agents.hook.calls import after, before  # noqa: PLC0415 - most calls are of the client's own tools
    from toolvet.agents.hook.tool_lists import definition_of, names_of_others  # noqa: PLC0415 - as above
    from toolvet.proxy.session import Policies  # noqa: PLC0415 - as above

    options, settings = _settings(given)
    if found is None:
        # A server that no file of the client names, as one of a plugin: its results need no definition.
        target, definition, why, server = None, None, "", ""
        tool = event.server_tool or event.tool[len(head) :].partition(behind)[2]
    else:
        target, tool, server = found
        may_ask = options.servers == "ask" and event.moment == "before"
        definition, why = definition_of(target, tool, wait=options.patience, may_ask=may_ask)
    policy = Policies(None if settings is None else settings[ProxySettings]).of(tool)
    if event.moment == "after":
        from toolvet.core.checks import ResultCheck  # noqa: PLC0415 - a call before it is made needs none of it

        check = ResultCheck() if settings is None else settings.result_check()
        return after(event, definition or {"name": tool}, policy, check)
    if why and policy.arguments == "enforce":
        return _notice(client, f'calls of the MCP server "{server}" are not checked: {why}')
    if definition is None or target is None:
        return None
    return before(
        event,
        definition,
        policy,
        merges=client == "gemini",
        others=lambda: names_of_others(servers_of(client, dialect, event).values(), target),
    )


def _of_end(event: HookEvent, given: str | None) -> HookAnswer | None:
    from toolvet.agents.hook.done import missing  # noqa: PLC0415 - a call needs none of it
    from toolvet.agents.hook.transcript import read_session  # noqa: PLC0415 - as above
    from toolvet.core.turn import AnswerCheck  # noqa: PLC0415 - as above

    hook, settings = _settings(given)
    path = event.agent_transcript if event.moment == "hand_back" and not event.agent else event.transcript
    if hook.done == "off" or path is None:
        return None
    check = AnswerCheck() if settings is None else settings.answer_check()
    # The client may write the last lines, and even the whole turn, only after it started the hook.
    latest = time.monotonic() + _TRANSCRIPT_SECONDS
    while True:
        lines, is_whole = read_tail(path)
        session = read_session(lines, is_whole=is_whole, of_agent=event.agent or event.moment == "hand_back")
        message = event.message
        written = session.turn.answer if session.turn is not None else None
        is_written = session.is_ended
        if message is not None:
            is_written = bool(written) and message.rstrip().endswith(f"{written}".strip())
        is_last = is_written or time.monotonic() >= latest
        if message is None or is_written:
            # The client's message may begin with text from before the last call.
            message = written
        if is_last or event.message is not None:
            found = missing(message, session, check=check, exists=_exists)
            # The lines that are still to be written may contain it.
            if found is None or is_last:
                return None if found is None else HookAnswer("block", found.text())
        time.sleep(_LOOK_SECONDS)


def read_tail(path: str) -> tuple[list[bytes], bool]:
    """Return the last lines of a transcript, and whether these are all; none if it cannot be read."""
    try:
        with Path(path).expanduser().open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - MOST_TRANSCRIPT_BYTES))
            content = file.read(MOST_TRANSCRIPT_BYTES)
    except (OSError, ValueError, RuntimeError):
        return [], False
    whole = size <= MOST_TRANSCRIPT_BYTES
    lines = content.split(b"\n")
    if whole and content.lstrip()[:1] == b"{" and len(lines) > 1 and lines[0].strip() == b"{":
        # One document over many lines.
        return [content], True
    return (lines if whole else lines[1:]), whole


def _exists(path: str) -> bool:
    try:
        return Path(path).expanduser().exists()
    except (OSError, RuntimeError, ValueError):
        return True


def _settings(given: str | None) -> "tuple[HookSettings, Settings | None]":
    """Return `[hook]` and all settings; without a file the defaults and None, because reading takes long."""
    from toolvet.agents.settings import HookSettings  # noqa: PLC0415 - as above
    from toolvet.core.discover import settings_file  # noqa: PLC0415 - the client's own tools need none

    if settings_file(given) is None:
        return HookSettings(), None
    from toolvet.core.settings import load_settings  # noqa: PLC0415 - as above

    settings = load_settings(given)
    return settings[HookSettings], settings


@contextmanager
def _in_time() -> Generator[None]:
    if not hasattr(signal, "SIGALRM") or signal.getitimer(signal.ITIMER_REAL)[0]:
        yield
        return
    before = signal.signal(signal.SIGALRM, _ring)
    signal.alarm(_SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def _ring(_number: int, _frame: object) -> None:
    raise _OutOfTimeError
