"""The work of `toolvet proxy`: flags and settings → policies, a record, and a driver between client and server."""

import os
import re
import select
import shlex
import sys
import threading
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

import msgspec

from toolvet.cli.commands.proxy.flags import ProxyFlags
from toolvet.cli.options import checked_store, load_lock
from toolvet.cli.target import is_url, parse_address, parse_header, read_variable
from toolvet.core.redact import SecretMask
from toolvet.core.settings import CheckSettings, load_settings
from toolvet.errors import ToolvetError, UsageError
from toolvet.mcp.transport import HttpTarget, StdioTarget, Target, adopt_orphans, given_secrets
from toolvet.mcp.wire import check_message_bytes
from toolvet.proxy.record import Recorder, Recording, names_of_neighbours, recorder_of
from toolvet.proxy.session import InterceptorSettings, Policies, ProxySettings, is_fit
from toolvet.store.settings import StoreSettings

if TYPE_CHECKING:
    from toolvet.proxy.interception import Interception

# `${NAME}` in a header: all users of a machine can read the secrets on a command line.
_VARIABLE: Final = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


def proxy(words: Sequence[str], flags: ProxyFlags) -> int:
    """Serve until one side ends, and return the exit code: the server's own where we started one."""
    policies = _read_policies(flags, words)
    environment = _read_environment(flags.env or ())
    remote = bool(words) and is_url(words[0])
    _check_flags(words, flags, at="url" if remote else "command")
    if flags.explain:
        from toolvet.cli.commands.proxy.explain import explain_policies  # noqa: PLC0415 - loads the transports

        form: Literal["json", "text"] = "json" if flags.json else "text"
        return explain_policies(words, environment, flags.cwd, _read_headers(flags), policies, form=form)
    if not remote:
        adopt_orphans()
    secrets = _given_secrets(words, flags, policies)
    with _masked_errors(secrets), masked_stderr(secrets), ExitStack() as until_the_end:
        kept = load_settings(flags.settings)[StoreSettings]
        url = flags.store or kept.url
        recording = Recording(
            store=None if url is None else checked_store(url),
            name=flags.name,
            metrics="off" if flags.metrics is None and flags.listen is None else "on",
            telemetry="on" if flags.otel else "off",
            secrets=secrets,
            older_than=kept.older_than,
            max_size=kept.max_size,
            sync=kept.sync,
            when_full="wait" if policies.requires_record else "drop",
            names_for=_name_of(words, flags) if policies.settings.steering != "off" else "",
        )
        recorder = until_the_end.enter_context(recorder_of(recording))
        if flags.metrics is not None:
            from toolvet.proxy.record import MetricsServer  # noqa: PLC0415 - http.server is heavy

            host, port = parse_address(flags.metrics)
            until_the_end.enter_context(MetricsServer(host, port, recorder.render_metrics))
        interception = None
        if policies.intercepts:
            from toolvet.proxy.interception import Interception  # noqa: PLC0415 - most proxies have none

            interception = until_the_end.enter_context(Interception(policies.settings.interceptors))
        if flags.listen is not None:
            return _serve_http(
                words,
                flags,
                listen=flags.listen,
                environment=environment,
                policies=policies,
                recorder=recorder,
                interception=interception,
            )
        if remote:
            from toolvet.proxy.remote import run_stdio_to_http  # noqa: PLC0415 - each driver loads what it needs

            return run_stdio_to_http(words[0], _read_headers(flags), policies, recorder, interception)
        from toolvet.proxy.stdio import run_stdio  # noqa: PLC0415 - each driver loads what it needs

        cwd = str(flags.cwd) if flags.cwd else None
        return run_stdio(words, environment, cwd, policies, recorder, interception=interception)


def _serve_http(
    words: Sequence[str],
    flags: ProxyFlags,
    *,
    listen: str,
    environment: Mapping[str, str] | None,
    policies: Policies,
    recorder: Recorder,
    interception: "Interception | None",
) -> int:
    from toolvet.proxy.bridge import run_bridge  # noqa: PLC0415 - each driver loads what it needs
    from toolvet.proxy.http import run_http  # noqa: PLC0415 - as above

    hosts, origins = flags.host or (), flags.origin or ()
    if is_url(words[0]):
        headers = _read_headers(flags)
        return run_http(
            words[0],
            listen,
            policies,
            recorder,
            flags.token,
            hosts=hosts,
            origins=origins,
            headers=headers,
            interception=interception,
        )
    cwd = str(flags.cwd) if flags.cwd else None
    return run_bridge(
        words,
        environment,
        cwd,
        listen,
        policies,
        recorder,
        flags.token,
        hosts=hosts,
        origins=origins,
        interception=interception,
    )


def _check_flags(words: Sequence[str], flags: ProxyFlags, *, at: str) -> None:
    if not words:
        raise UsageError("which server? Give a command (toolvet proxy -- uvx mcp-server-time), or a URL")
    if flags.json and not flags.explain:
        raise UsageError("--json is the form of --explain, which is missing")
    if at == "url":
        if len(words) > 1:
            raise UsageError(f"one URL at a time; unexpected: {' '.join(words[1:])}")
        if flags.env or flags.cwd:
            raise UsageError("--env and --cwd are for a command: toolvet does not start a server at a URL")
    elif flags.header or flags.header_env:
        raise UsageError(
            "--header is for a URL, and so is --header-env; a command gets its secrets through --env NAME=VALUE"
        )
    if flags.listen is None and (flags.host or flags.origin):
        raise UsageError(
            "--host and --origin are for --listen: no other program can reach a server on stdin and stdout"
        )
    if flags.listen is not None and flags.metrics is not None:
        raise UsageError("with --listen, /metrics and /healthz are at that address; omit --metrics")


def _name_of(words: Sequence[str], flags: ProxyFlags) -> str:
    return flags.name or " ".join(words)


def _read_policies(flags: ProxyFlags, words: Sequence[str]) -> Policies:
    """Return the policies of the settings file; flags win for all tools, except where the file names a tool."""
    settings = load_settings(flags.settings)
    given = {
        "arguments": flags.arguments,
        "repair": flags.repair,
        "results": flags.results,
        "output_schema": flags.output_schema,
        "record": flags.record,
        "fit": flags.fit,
        "lock_file": None if flags.lock is None else str(flags.lock),
        "max_message_bytes": flags.max_message_bytes,
    }
    if flags.fit is not None and not is_fit(flags.fit):
        raise UsageError(f"--fit {flags.fit}: write a number of tokens, such as 10000, or '40000 characters'")
    if flags.max_message_bytes is not None:
        check_message_bytes(flags.max_message_bytes)
    proxy = msgspec.structs.replace(settings[ProxySettings], **{key: value for key, value in given.items() if value})
    more = tuple(map(_read_interceptor, flags.interceptor or ()))
    proxy = msgspec.structs.replace(proxy, interceptors=(*proxy.interceptors, *more))
    # Without a wording of the user's own, the checks of arguments load while the server starts.
    worded = settings.argument_check() if settings[CheckSettings].arguments.wording else None
    lock = None if proxy.lock_file is None else load_lock(Path(proxy.lock_file))
    others = names_of_neighbours(_name_of(words, flags)) if proxy.steering != "off" else ()
    return Policies(proxy, check=settings.result_check(), check_arguments=worded, lock=lock, others=others)


def _read_interceptor(text: str) -> InterceptorSettings:
    try:
        words = (text,) if is_url(text) else tuple(shlex.split(text))
    except ValueError as error:
        raise UsageError(f"--interceptor {text}: {error}") from error
    if not words:
        raise UsageError("--interceptor: give a command or a URL")
    return InterceptorSettings(url=text) if is_url(text) else InterceptorSettings(command=words)


def _read_environment(variables: Sequence[str]) -> Mapping[str, str] | None:
    """Return the server's environment: ours with these variables. None: exactly ours, as without the proxy."""
    if not variables:
        return None
    given: dict[str, str] = {}
    for text in variables:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise UsageError(f"--env {name}: write it as NAME=VALUE; our own variables reach the server anyway")
        given[name] = value
    return {**os.environ, **given}


def _read_headers(flags: ProxyFlags) -> dict[str, str]:
    def ours(found: re.Match[str]) -> str:
        return _read_variable("--header", found[1])

    headers: dict[str, str] = {}
    for text in flags.header or ():
        name, value = parse_header(text)
        headers[name] = _VARIABLE.sub(ours, value)
    for text in flags.header_env or ():
        name, equals, variable = text.partition("=")
        if not equals or not name or not variable:
            raise UsageError(f"--header-env {text}: write it as NAME=VARIABLE")
        headers[name] = _read_variable("--header-env", variable)
    return headers


def _read_variable(option: str, name: str) -> str:
    return read_variable(name, problem=f"{option}: the environment variable {name} is not set")


def _given_secrets(words: Sequence[str], flags: ProxyFlags, policies: Policies) -> tuple[str, ...]:
    if is_url(words[0]):
        target: Target = HttpTarget(words[0], _read_headers(flags))
    else:
        variables = {name: value for name, _, value in (text.partition("=") for text in flags.env or ())}
        target = StdioTarget(words[0], tuple(words[1:]), variables)
    asked = [
        HttpTarget(each.url, each.headers) if each.url else StdioTarget(each.command[0], each.command[1:], each.env)
        for each in policies.settings.interceptors
    ]
    secrets = [secret for each in (target, *asked) for secret in given_secrets(each)]
    return (*secrets, *([flags.token] if flags.token else ()))


@contextmanager
def _masked_errors(secrets: Sequence[str]) -> Generator[None]:
    try:
        yield
    except ToolvetError as error:
        error.args = (SecretMask(secrets).text(str(error)),)
        raise
    except Exception as error:
        # A bug of ours: what is shown of it is its traceback.
        mask = SecretMask(secrets)
        error.args = tuple(mask.text(word) if isinstance(word, str) else word for word in error.args)
        raise


_STDERR: Final = 2
_CHUNK: Final = 64 * 1024
# A line that does not end is passed on as far as it came.
_LINE_SECONDS: Final = 0.1
# The last output of a server that has ended is there at once; a process that outlives it may hold its stderr for long.
_DRAIN_SECONDS: Final = 0.5
_SHORTEST_LINE: Final = 8


@contextmanager
def masked_stderr(secrets: Iterable[str]) -> Generator[None]:
    """While the block lasts, replace these secrets in all that this process and its children write to stderr.

    Without secrets stderr stays what it is, a terminal for one.
    """
    # A private key is one value of many lines, and stderr is masked line by line.
    parts = [line for secret in secrets for line in (secret, *secret.splitlines()) if len(line) >= _SHORTEST_LINE]
    short = [secret for secret in secrets if len(secret) < _SHORTEST_LINE]
    mask = SecretMask((*parts, *short))
    try:
        original = os.dup(_STDERR) if mask else -1
    except OSError:
        original = -1
    if original < 0:
        yield
        return
    read, write = os.pipe()
    sys.stderr.flush()
    os.dup2(write, _STDERR)
    os.close(write)
    thread = threading.Thread(target=_pass_on, args=(read, original, mask), name="toolvet-stderr", daemon=True)
    thread.start()
    try:
        yield
    finally:
        with suppress(OSError, ValueError):
            sys.stderr.flush()
        os.dup2(original, _STDERR)
        thread.join(_DRAIN_SECONDS)


def _pass_on(read: int, original: int, mask: SecretMask) -> None:
    """Copy lines without secrets until all who write have closed their end; what cannot be written is dropped."""
    begun = b""
    while True:
        ready, _, _ = select.select([read], [], [], _LINE_SECONDS if begun else None)
        data = os.read(read, _CHUNK) if ready else b""
        whole, newline, rest = (begun + data).rpartition(b"\n")
        if not data or len(rest) > _CHUNK:
            whole, newline, rest = begun + data, b"", b""
        begun = rest
        masked = mask.known(whole.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")
        view = memoryview(masked + newline)
        while view:
            try:
                view = view[os.write(original, view) :]
            except BlockingIOError:
                select.select([], [original], [])
            except OSError:
                # Its reader is gone. The server must not hang on a full pipe for it.
                break
        if ready and not data:
            os.close(read)
            return
