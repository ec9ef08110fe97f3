"""The targets of a connection, a command to start or a URL, and what may be printed of them and of what they say.

Secrets that the user gave for a server are known, so they are masked wherever the server repeats them. Text that a peer
printed is made safe to print again.
"""

import os
import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, TypeAlias
from urllib.parse import parse_qsl, unquote, urlsplit, urlunsplit

from toolvet.core.redact import REDACTED, is_secret_key, redact_text, word_segments
from toolvet.errors import UsageError

MASK: Final = "***"
# On command lines and in URLs these words name a secret; in a payload they mostly name something else.
_LAST_WORDS: Final = frozenset({("key",), ("keys",), ("sig",), ("signature",), ("pat",), ("dsn",)})
SAFE_HEADERS: Final = frozenset({"accept", "accept-encoding", "accept-language", "content-type", "user-agent"})
# A URL inside an argument, as in `--db=postgres://…`.
_URL: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://.*", re.DOTALL)
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SHORTEST: Final = 4  # Characters of a value whose variable is named like a secret.
_SHORTEST_UNNAMED: Final = 8  # … and of any other value: shorter ones are words and numbers that occur by chance.
# A path, a number or plain words: `production`, `en_US.UTF-8`, `/data/shop.db`.
_HARMLESS: Final = re.compile(r"[A-Za-z_.-]*(?:UTF-8)?|[\d.:,-]+|[A-Za-z]:\\.*|.*/.*", re.DOTALL)
# A server's stderr may hold colour codes, cursor moves and bells; none of them may reach the reader's terminal.
_ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-_])?")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


@dataclass(frozen=True, repr=False)
class StdioTarget:
    """A server to start as a child process and to speak to over its stdin and stdout.

    `env` is added to a minimal environment (`stdio.child_environment`); `cwd` is the folder to start it in, None for
    our own.

    >>> print(StdioTarget("uvx", ("server", "--token", "abc"), env={"HOME_URL": "https://me:pw@host"}).describe())
    env HOME_URL="$HOME_URL" uvx server --token '***'
    """

    command: str
    args: tuple[str, ...] = ()
    env: Mapping[str, str] | None = None
    cwd: str | None = None

    def __repr__(self) -> str:
        # A traceback or a log line must not contain secrets either.
        return f"StdioTarget({self.describe()})"

    def describe(self) -> str:
        """Return a command line that is safe to print and can be pasted after `toolvet assess -- `.

        Values of `env` are written as `NAME="$NAME"`, arguments that look secret as `***`.
        """
        words = [shlex.quote(word) for word in (self.command, *mask_args(self.args))]
        prefix: list[str] = []
        if self.cwd is not None:
            prefix += ["-C", shlex.quote(self.cwd)]
        for name in self.env or {}:
            prefix.append(f'{name}="${name}"' if _NAME.fullmatch(name) else f"{shlex.quote(name)}={MASK}")
        return " ".join([*(["env", *prefix] if prefix else []), *words])


@dataclass(frozen=True, repr=False)
class HttpTarget:
    """A server at a URL; `headers` are sent with every request.

    `kind` "sse" is the transport of 2024-11-05; `open_session` also tries it by itself where the other is refused.

    >>> print(HttpTarget("https://host/mcp", {"Authorization": "Bearer abc"}).describe())
    https://host/mcp --header 'Authorization: ***'
    """

    url: str
    headers: Mapping[str, str] | None = None
    kind: Literal["streamable", "sse"] = "streamable"

    def __repr__(self) -> str:
        return f"HttpTarget({self.describe()})"

    def describe(self) -> str:
        """Return the URL and the masked headers, safe to print and to paste after `toolvet assess `."""
        words = [shlex.quote(mask_url(self.url))]
        for name, value in (self.headers or {}).items():
            shown = value if name.lower() in SAFE_HEADERS else MASK
            words += ["--header", shlex.quote(f"{name}: {shown}")]
        return " ".join(words)


Target: TypeAlias = StdioTarget | HttpTarget


def looks_secret(name: str) -> bool:
    """Whether a parameter, option or variable of this name holds a value that must not be printed."""
    return is_secret_key(name) or word_segments(name)[-1:] in _LAST_WORDS


def mask_url(url: str) -> str:
    """Return `url` without its user information and without the values of query parameters that look secret."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return url.partition("?")[0].rpartition("@")[2]
    host = parts.netloc.rpartition("@")
    pairs = [pair.partition("=") for pair in parts.query.split("&")]
    query = "&".join(
        f"{name}={MASK}" if equals and looks_secret(name) else f"{name}{equals}{value}" for name, equals, value in pairs
    )
    netloc = f"{MASK}@{host[2]}" if host[1] else host[2]
    return urlunsplit((parts.scheme, netloc, parts.path, query, ""))


def mask_args(args: tuple[str, ...]) -> list[str]:
    """Return the words of a command line with `***` for what looks secret, one for one."""
    shown: list[str] = []
    after_secret = False
    for arg in args:
        option, equals, _ = arg.partition("=")
        if after_secret and not arg.startswith("--"):
            shown.append(MASK)
            after_secret = False
            continue
        after_secret = arg.startswith("-") and not equals and looks_secret(arg)
        if equals and looks_secret(option):
            shown.append(f"{option}={MASK}")
        elif looks_secret(arg.partition(":")[0]) and ":" in arg and "://" not in arg:
            shown.append(f"{arg.partition(':')[0]}: {MASK}")
        else:
            shown.append(redact_text(_URL.sub(lambda found: mask_url(found[0]), arg)).replace(REDACTED, MASK))
    return shown


def given_secrets(target: Target) -> Iterator[str]:
    """Yield the values that the user gave with --env or --header, in a URL or on the server's command line."""
    if isinstance(target, HttpTarget):
        for name, value in (target.headers or {}).items():
            if name.lower() not in SAFE_HEADERS:
                yield from (word for word in (value, value.rpartition(" ")[2]) if len(word) >= _SHORTEST_UNNAMED)
        yield from _of_url(target.url)
        return
    yield from secret_variables(target.env or {})
    for arg, shown in zip(target.args, mask_args(target.args), strict=True):
        if arg == shown:
            continue
        value = arg
        if shown.endswith(MASK) and arg.startswith(shown.removesuffix(MASK)):
            value = arg[len(shown) - len(MASK) :]
        if len(value) >= _SHORTEST:
            yield value
        if "://" in value:
            yield from _of_url(value[max(0, value.rfind("=", 0, value.find("://")) + 1) :])


def secret_variables(variables: Mapping[str, str]) -> Iterator[str]:
    """Yield the values of variables that are secret by their name or by their look."""
    for name, value in variables.items():
        if looks_secret(name):
            if len(value) >= _SHORTEST:
                yield value
        elif mask_url(value) != value:
            # A URL with a password: the password alone may be echoed, too.
            yield value
            yield from _of_url(value)
        elif len(value) >= _SHORTEST_UNNAMED and not _HARMLESS.fullmatch(value):
            yield value


def _of_url(url: str) -> Iterator[str]:
    """Yield the password of a URL and the values of its secret parameters, as written and as meant."""
    try:
        parts = urlsplit(url)
        fields = parse_qsl(parts.query)
    except ValueError:
        return
    password = parts.netloc.rpartition("@")[0].rpartition(":")[2]
    given = [password, *(value for name, value in fields if looks_secret(name))]
    yield from dict.fromkeys(word for value in given for word in (value, unquote(value)) if len(word) >= _SHORTEST)


def printable(foreign: bytes | str, limit: int | None = None) -> str:
    """Decode `foreign` leniently, remove escape sequences and control characters, and cut it to `limit` characters."""
    if limit is not None:
        # UTF-8 has at most four bytes a character: more than this cannot be shown, so it need not be decoded.
        foreign = foreign[: 4 * limit + 4]
    text = foreign.decode(errors="replace") if isinstance(foreign, bytes) else foreign
    clean = _CONTROL.sub("", _ESCAPE.sub("", text))
    return clean if limit is None or len(clean) <= limit else clean[: limit - 1] + "…"


def quotable(foreign: bytes | str, limit: int) -> str:
    """Return what a peer sent, printable, without secrets and cut; half a secret would not look like one."""
    head = foreign[: 20 * limit]
    text = head.decode(errors="replace") if isinstance(head, bytes) else head
    return printable(redact_text(_CONTROL.sub("", _ESCAPE.sub("", text))), limit)


def last_lines(text: str, count: int = 5, width: int = 200) -> str:
    """Return the last `count` lines that are not blank, without secrets, each cut to `width` characters."""
    # The whole text, because the block of a private key has many lines.
    lines = [line.rstrip() for line in redact_text(text).splitlines() if line.strip()]
    return "\n".join(printable(line, width) for line in lines[-count:])


def check_certificates() -> None:
    """Raise UsageError where a variable names a place that is not there: OpenSSL would silently trust no certificate.

    SSL_CERT_DIR may list several folders, and one that exists is enough.
    """
    file, folders = os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR")
    if file and not Path(file).is_file():
        raise UsageError(describe_certificates(FileNotFoundError(2, os.strerror(2))))
    if folders and not file and not any(Path(folder).is_dir() for folder in folders.split(os.pathsep) if folder):
        raise UsageError(describe_certificates(FileNotFoundError(2, os.strerror(2))))


def describe_certificates(error: OSError) -> str:
    """Name the variable that leads to certificates which cannot be read."""
    for name in ("SSL_CERT_FILE", "SSL_CERT_DIR"):
        if path := os.environ.get(name):
            return f"the certificates of {name}={printable(path, 200)} cannot be read: {error.strerror or error}"
    return f"the root certificates cannot be read: {error.strerror or error}"
