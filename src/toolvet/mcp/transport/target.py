"""The targets of a connection, a command to start or a URL, and how they are printed without secrets."""

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias
from urllib.parse import urlsplit, urlunsplit

from toolvet.core.redact import REDACTED, is_secret_key, redact_text, word_segments

MASK: Final = "***"
# On command lines and in URLs these words name a secret; in a payload they mostly name something else.
_LAST_WORDS: Final = frozenset({("key",), ("keys",), ("sig",), ("signature",), ("pat",), ("dsn",)})
SAFE_HEADERS: Final = frozenset({"accept", "accept-encoding", "accept-language", "content-type", "user-agent"})
# A URL inside an argument, as in `--db=postgres://…`.
_URL: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://.*", re.DOTALL)
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


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
    query = "&".join(_mask_pair(pair) for pair in parts.query.split("&")) if parts.query else ""
    netloc = f"{MASK}@{host[2]}" if host[1] else host[2]
    return urlunsplit((parts.scheme, netloc, parts.path, query, ""))


def _mask_pair(pair: str) -> str:
    name, equals, _ = pair.partition("=")
    return f"{name}={MASK}" if equals and looks_secret(name) else pair


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
