"""Which host, program, variable, folder or credential an error says is missing: facts about a server's surroundings."""

import re
from enum import StrEnum
from functools import cache, lru_cache
from typing import Final

import msgspec

from toolvet.core.causes import State

_LONGEST_READ: Final = 4_000
_HOST: Final = r"(?P<subject>(?:\[[0-9a-f:]{2,39}\]|[a-z0-9_](?:[\w-]{0,62}\.){0,8}[\w-]{0,62})(?::\d{1,5})?)"
_URL: Final = rf"(?:https?|wss?|tcp|redis|postgres(?:ql)?|mysql|mongodb|amqp)://(?:[^\s/@]{{1,100}}@)?{_HOST}"
_VARIABLE: Final = r"(?P<subject>(?-i:[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+))"
_MISSING: Final = (
    r"(?:(?:is |are |was |were |has )?(?:not (?:been )?|un)"
    r"(?:set|defined|configured|found|provided|specified|available|present)"
    r"|(?:is |are |was |were )?(?:missing|required|empty|undefined)"
    r"|(?:must|needs to|has to) be (?:set|defined|configured|provided))"
)
# Words of an error's code: "FIELD_REQUIRED missing city" names no variable.
_CODE: Final = re.compile(r"(?:^|_)(?:MISSING|INVALID|REQUIRED|ERROR|FAILED|DENIED|EXCEEDED|FOUND|UNKNOWN|BAD)(?:_|$)")
# An absolute path on any system: one that a server chose, or that came from the caller (`rules/outage.py` knows which).
_PATH: Final = r"(?P<subject>(?:/|[A-Za-z]:[\\/])[^'\"`\n]{0,400})"
_PROGRAM: Final = r"[\"'`]?(?P<subject>[\w./+-]{1,80}?)[\"'`]?"


class OutageKind(StrEnum):
    """The kinds of things that a server may lack in its environment."""

    HOST = "host"
    PROGRAM = "program"
    VARIABLE = "variable"
    FOLDER = "folder"
    CREDENTIAL = "credential"

    @property
    def state(self) -> State:
        """The state of a call that failed for it."""
        return _STATES[self.value]


_STATES: Final[dict[str, State]] = {
    "host": State.UNREACHABLE,
    "program": State.UNAVAILABLE,
    "variable": State.UNAUTHORIZED,
    "folder": State.MISCONFIGURED,
    "credential": State.UNAUTHORIZED,
}


class Outage(msgspec.Struct, frozen=True):
    """The thing that an error reports as missing. `subject` names it, or is empty if the error does not."""

    kind: OutageKind
    subject: str = ""


def _patterns(kind: OutageKind, *expressions: str) -> list[tuple[OutageKind, str]]:
    return [(kind, expression) for expression in expressions]


# In this order: a variable says more than the credential that it holds, a host more than a refused connection.
_TABLE: Final = (
    *_patterns(
        OutageKind.VARIABLE,
        rf"\b{_VARIABLE}[\"'`]?(?: (?:environment|env|variable|var|key|token|secret|value)){{0,2}} "
        rf"{_MISSING}\b",
        rf"\benv(?:ironment)?[ _]var\w*:? [\"'`]?{_VARIABLE}",
        rf"\b(?:set|export|provide|define|configure|missing|requires?|need) (?:the |your |required |a )?"
        rf"(?:\w+ ){{0,2}}?"
        rf"[\"'`$]{{0,2}}{_VARIABLE}",
    ),
    *_patterns(
        OutageKind.PROGRAM,
        rf"\bspawn {_PROGRAM} ENOENT\b",
        rf"(?:^|[\n:;] ?){_PROGRAM}: (?:command )?not found\s*(?:$|\n)",
        rf"\bcommand not found: {_PROGRAM}(?:\s|$)",
        r"'(?P<subject>[\w./+-]{1,80})' is not recognized as an internal or external command",
        rf"\bexec: {_PROGRAM}: executable file not found\b",
        rf"\b(?:could not find|cannot find|unable to find|failed to find) (?:the )?{_PROGRAM} "
        r"(?:executable|binary|command|program)\b",
        rf"\b(?:the )?{_PROGRAM} (?:executable|binary|command|program) (?:was |is |could )?"
        r"(?:not (?:be )?(?:found|installed)|missing)\b",
        rf"\b{_PROGRAM} (?:is not|isn't|not) installed\b",
        rf"\bno {_PROGRAM} (?:was |could be )?found[:.,;]? (?:please )?(?:either )?install (?P=subject)\s",
    ),
    # A server cannot make or write its own folder. Node, Python, Go, and the words of the system.
    *_patterns(
        OutageKind.FOLDER,
        rf"\bENOENT: [^\n,]{{0,60}}, (?:mkdir|mkdtemp|open) '{_PATH}'",
        rf"\b(?:EROFS|EACCES|EPERM|ENOSPC|EDQUOT): [^\n,]{{0,60}}, "
        rf"(?:mkdir|mkdtemp|open|write|rename|copyfile|unlink|rmdir) '{_PATH}'",
        rf"\[Errno (?:13|28|30|122)\] [^\n:]{{0,60}}: ['\"]{_PATH}['\"]",
        r"\b(?:mkdir|open) (?P<subject>/[^\s:]{1,400}): (?:permission denied|read-only file system"
        r"|no space left on device)",
        r"\b(?:EROFS|ENOSPC): |\[Errno (?:28|30)\]|\b(?:read-only file system|no space left on device) \(os error \d",
    ),
    *_patterns(
        OutageKind.HOST,
        rf"\bE(?:CONNREFUSED|CONNRESET|HOSTUNREACH|NETUNREACH|TIMEDOUT) {_HOST}(?=[\s,)\"']|$)",
        rf"\b(?:ENOTFOUND|EAI_AGAIN|getaddrinfo failed for|no such host:?|unknown host:?|could not resolve host:?) "
        rf"(?!for\b){_HOST}(?=[\s,)\"']|$)",
        rf"\b(?:dial (?:tcp|udp)|lookup) (?:lookup )?{_HOST}(?: on [\d.:]+)?: (?:connect: )?"
        r"(?:connection refused|no such host|i/o timeout|no route to host|server misbehaving)",
        rf"\bHTTPS?ConnectionPool\(host='{_HOST}'",
        rf"\b(?:failed to resolve|could not resolve|cannot resolve) [\"']{_HOST}[\"']",
        rf"\b(?:connect(?:ing|ion)?|connect call failed)\b[^\n]{{0,30}}? (?:to|with|at) (?:the )?(?:\w+ (?:at|on) )?"
        rf"(?:server at )?[\"'(]{{0,2}}(?:{_URL})",
        r"\bconnect(?:ing|ion)? to (?:server at )?[\"']?(?P<subject>(?:localhost|[\w-]{1,63}(?:\.[\w-]{1,63}){1,8})"
        r"(?::\d{1,5})?)[\"']?(?=[\s,;.)]|$)[^\n]{0,60}\b(?:refused|failed|timed out|reset|unreachable|closed)",
        r"\bnet::ERR_(?:NAME_NOT_RESOLVED|CONNECTION_\w+|ADDRESS_UNREACHABLE|INTERNET_DISCONNECTED)\w* at "
        rf"{_URL}",
        r"\b(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|getaddrinfo|connection refused|no such host"
        r"|name or service not known|temporary failure in name resolution|no route to host|network is unreachable"
        r"|fetch failed|all connection attempts failed)\b",
    ),
    *_patterns(
        OutageKind.CREDENTIAL,
        r"\b(?P<subject>(?:\w+ )?(?:api[ -]?key|access token|auth token|credentials?|client secret))"
        r" (?:is |are |was |were )?(?:not (?:set|configured|found|provided|defined)|missing|unset)\b",
        r"\bno (?P<subject>(?:\w+ )?(?:api[ -]?key|access token|auth token|credentials?))"
        r" (?:(?:is |are |was |were )?(?:set|configured|found|provided|available))\b",
        r"\b(?:unable to locate|could not (?:load|find)(?: the)?(?: default)?) (?P<subject>credentials)\b",
    ),
)


def outage_of(text: str) -> Outage | None:
    """Return the thing that an error reports as missing around the server; None for an error of another cause.

    Several tools that fail for the same outage have one cause: compare `kind` and `subject`.

    >>> outage_of("connect ECONNREFUSED 127.0.0.1:5432")
    Outage(kind=<OutageKind.HOST: 'host'>, subject='127.0.0.1:5432')
    >>> outage_of("TAVILY_API_KEY environment variable is required").subject
    'TAVILY_API_KEY'
    >>> outage_of("EROFS: read-only file system, mkdir '/opt/shop/data'").subject
    '/opt/shop/data'
    >>> outage_of("ENOENT: no such file or directory, open 'a.txt'") is None
    True
    """
    return _find(text[:_LONGEST_READ])


@lru_cache(maxsize=256)  # Several rules ask about one error.
def _find(read: str) -> Outage | None:
    for kind, pattern in _compiled():
        found = pattern.search(read)
        if found is None:
            continue
        subject = found.groupdict().get("subject") or ""
        if kind is OutageKind.VARIABLE and _CODE.search(subject) is not None:
            continue
        subject = subject.rstrip(".,;:")
        if kind is OutageKind.FOLDER:
            subject = subject.rstrip("/\\") or subject
        elif kind is OutageKind.PROGRAM:
            # "/bin/sh: 1: rg: not found" and "/usr/bin/chrome" name a program by its last part.
            subject = subject.rpartition("/")[2]
        return Outage(kind, subject)
    return None


@cache
def _compiled() -> list[tuple[OutageKind, re.Pattern[str]]]:
    """The table, compiled for the first error: that takes ten times as long as all else that is loaded here."""
    return [(kind, re.compile(expression, re.IGNORECASE)) for kind, expression in _TABLE]
