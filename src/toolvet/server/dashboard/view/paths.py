"""The paths of pages: names of servers and tools, which may have any characters, as segments of a path.

io.github/files → /server/io.github~1files       (`/` is written `~1` and `~` is `~0`, as in a JSON Pointer, RFC 6901)
"""

from collections.abc import Mapping
from typing import Final
from urllib.parse import quote, urlencode

# A path is not allowed to have an empty segment, and browsers resolve these.
_ODD: Final = {"": "~", ".": "~2", "..": "~2~2"}
_ODD_BACK: Final = {written: name for name, written in _ODD.items()}


def segment(name: str) -> str:
    """Return a name as one segment of a path.

    >>> segment("io.github/files")
    'io.github~1files'
    """
    return _ODD.get(name) or quote(name.replace("~", "~0").replace("/", "~1"), safe="~", errors="replace")


def read_segment(written: str) -> str:
    """Return the name that `segment` wrote, after the server decoded the path.

    >>> read_segment("io.github~1files")
    'io.github/files'
    """
    return _ODD_BACK[written] if written in _ODD_BACK else written.replace("~1", "/").replace("~0", "~")


def tool_path(server: str, tool: str) -> str:
    """Return the path of a tool's page."""
    return f"/tool/{segment(server)}/{segment(tool)}"


def server_path(server: str) -> str:
    """Return the path of a server's page."""
    return f"/server/{segment(server)}"


def turn_path(trace: str) -> str:
    """Return the path of a turn's page."""
    return f"/turn/{segment(trace)}"


def conversation_path(conversation: str) -> str:
    """Return the path of a conversation's page."""
    return f"/conversation/{segment(conversation)}"


def queried(path: str, query: Mapping[str, object], **changes: object) -> str:
    """Return a path with a query: `query` with these changes; members that are None or empty are left out.

    >>> queried("/verdicts", {"kind": "call", "page": "2"}, page=None, tool="find book")
    '/verdicts?kind=call&tool=find+book'
    """
    members = {name: value for name, value in {**query, **changes}.items() if value is not None and value != ""}
    written = urlencode({name: f"{value}".encode("utf-8", "replace") for name, value in members.items()})
    return f"{path}?{written}" if written else path
