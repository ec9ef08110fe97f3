"""Where a store is: `StoreAddress.read` takes a path or a URL.

calls.db, sqlite:///calls.db               a SQLite file, with its spool beside it
postgresql+psycopg://ann@host/verdicts     a PostgreSQL database; its spool is in the user's state folder
calls.jsonl                                lines of JSON and no database
"""

import hashlib
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from toolvet.errors import UsageError

_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.]+)://")
# As SQLAlchemy reads it: what is between the name and the `@` is the password, whatever it contains.
_PASSWORD: Final = re.compile(r"(://[^:/@]*):[^@]*@")
_QUERY_PASSWORD: Final = re.compile(r"(?i)([?&](?:password|passfile|sslpassword)=)[^&]*")


@dataclass(frozen=True)
class StoreAddress:
    """A place for a store. `shown` is safe to print; `url` is for the database, and may contain a password.

    `path` is the file, None for a server. `spool` is the folder of the spool.
    """

    kind: Literal["sqlite", "postgresql", "lines"]
    url: str
    shown: str
    path: Path | None
    spool: Path

    @classmethod
    def read(cls, given: "str | os.PathLike[str]") -> "StoreAddress":
        """Return the address of a store. Raises UsageError for a URL of another database, and for `/`.

        >>> StoreAddress.read("postgresql://ann:secret@db/verdicts").shown
        'postgresql+psycopg://ann@db/verdicts'
        """
        text = os.fspath(given)
        scheme = _SCHEME.match(text)
        if scheme is None:
            return cls._of_file(Path(text))
        name = scheme[1].lower()
        if name == "sqlite":
            path = text[scheme.end() :].split("?", 1)[0]
            if not path.startswith("/") or path == "/":
                raise UsageError(f"--store {text}: write it as sqlite:///FILE, or only FILE")
            return cls._of_file(Path(path[1:]))
        if name in ("postgresql", "postgres", "postgresql+psycopg"):
            url = f"postgresql+psycopg://{text[scheme.end() :]}"
            if url.partition("?")[0].count("@") > 1:
                # Everything after the first of them would be taken for the host, and shown in every error.
                raise UsageError("--store postgresql+psycopg://…: write an @ in a name or a password as %40")
            shown = _QUERY_PASSWORD.sub(r"\1…", _PASSWORD.sub(r"\1@", url))
            digest = hashlib.sha256(shown.encode()).hexdigest()[:16]
            home = os.environ.get("XDG_STATE_HOME")
            state = Path(home) if home and Path(home).is_absolute() else Path.home() / ".local" / "state"
            return cls("postgresql", url, shown, None, state / "toolvet" / "spool" / digest)
        raise UsageError(
            f"--store {name}://…: toolvet keeps its store in a file (calls.db), or in PostgreSQL"
            " (postgresql+psycopg://user@host/database)"
        )

    @classmethod
    def _of_file(cls, path: Path) -> "StoreAddress":
        path = path.absolute()
        if not path.name:
            raise UsageError(f"{path}: a store is a file, and this is a folder")
        kind: Literal["sqlite", "lines"] = "lines" if path.suffix == ".jsonl" else "sqlite"
        return cls(kind, f"sqlite:///{path}", str(path), path, path.with_name(f"{path.name}.spool"))
