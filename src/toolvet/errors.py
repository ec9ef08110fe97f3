"""The exceptions that toolvet raises.

A broken server, a wrong argument or an odd result becomes a finding, not an exception. Exceptions are for the rest:

    ToolvetError
    ├── UsageError             the command line, a configuration file or an input file is wrong       exit 2
    │   ├── ConfigError        … and we know the file, the line and the key
    │   └── MissingExtraError  a package is not installed that an extra brings (also an ImportError)
    ├── ToolShapeError         what was handed over as a tool is none that toolvet reads (also a TypeError) exit 2
    ├── AuthenticationError    the server wants credentials that it did not get                       exit 3
    ├── UnreachableError       the server cannot be started, reached, or does not speak MCP           exit 4
    ├── OutputError            our stdout cannot be written: it is closed, full, or has no reader     exit 6
    ├── EnvelopeError          an argument that no response envelope can hold (also a ValueError)
    │   └── EnvelopeTypeError  … because it is of the wrong type (also a TypeError)
    ├── ArchiveError           an archive cannot keep or give content: its file is damaged, foreign, locked or full
    │   ├── ContentMissingError    … because it is not there, or no longer (also a LookupError)
    │   └── ContentDamagedError    … because it is no longer what it was
    ├── StoreError             a store cannot be opened, read or written                              exit 2
    └── Unsatisfiable          no value can satisfy this JSON Schema (also a ValueError)

Below the root as well, in rooms of their own: `toolvet.core.envelope.ResponseError`, which carries the response of a
tool that failed (exit 1), and `toolvet.mcp.client.InvalidArgumentsError` (1) and `NativeValidationError` (4).

Any other exception that reaches the command line is a bug of ours (exit 5).
"""

from toolvet.version import requirement


class ToolvetError(Exception):
    """The root: `except ToolvetError` catches everything that toolvet raises on purpose.

    `exit_code` is what the command line exits with.
    """

    exit_code = 5

    def __reduce__(self) -> tuple[object, ...]:
        # Exceptions are copied with their `args`, which is the text here, and not what our constructors take.
        return _restore, (type(self), self.args, self.__dict__)


def _restore(kind: type[ToolvetError], args: tuple[object, ...], state: dict[str, object]) -> ToolvetError:
    """The error that was pickled or copied."""
    error = kind.__new__(kind, *args)
    error.args = args
    error.__dict__.update(state)
    return error


class UsageError(ToolvetError):
    """The caller asked for something that cannot be done as asked."""

    exit_code = 2


class ConfigError(UsageError):
    """A configuration file is wrong. `file`, `line` and `key` say where, `problem` what; None is not known."""

    def __init__(self, problem: str, *, file: str, line: int | None = None, key: str | None = None) -> None:
        self.problem = problem
        self.file = file
        self.line = line
        self.key = key
        where = file if line is None else f"{file}, line {line}"
        what = problem if key is None else f"{key}: {problem}"
        super().__init__(f"{where}: {what}")


# What toolvet imports without depending on it, and the extra that brings it.
_EXTRAS = {
    "aiohttp": "http",
    "alembic": "store",
    "daft": "daft",
    "distributed": "dask",
    "duckdb": "batch",
    "httpx": "phoenix",
    "httpx2": "http",
    "joserfc": "oidc",
    "langfuse": "langfuse",
    "numpy": "batch",
    "opentelemetry": "otel",
    "opik": "opik",
    "phoenix": "phoenix",
    "prometheus_client": "http",
    "pyarrow": "batch",
    "ray": "ray",
    "requests": "otel",
    "sqlalchemy": "store",
    "starlette": "serve",
    "uvicorn": "serve",
}


class MissingExtraError(UsageError, ImportError):
    """The package `name` is not installed, which one of toolvet's extras brings. The message says how to install it."""

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(
            f'{name} is not installed, which this needs: pip install "{requirement(_EXTRAS.get(name, name))}"'
        )

    @classmethod
    def of(cls, error: BaseException) -> "MissingExtraError | None":
        """Return the error to raise instead of an ImportError of Python's, or None where no extra helps."""
        name = ((error.name if isinstance(error, ImportError) else None) or "").partition(".")[0]
        return cls(name) if name in _EXTRAS else None


class ToolShapeError(ToolvetError, TypeError):
    """The given tool is in no shape that toolvet reads. The message lists the shapes."""

    exit_code = 2


class AuthenticationError(ToolvetError):
    """The server refused us because it wants credentials (HTTP 401 or 403)."""

    exit_code = 3


class UnreachableError(ToolvetError):
    """The server cannot be started or reached, or does not speak MCP."""

    exit_code = 4


class OutputError(ToolvetError):
    """Our stdout cannot be written: it is closed, its reader is gone, or its disk is full."""

    exit_code = 6


class StoreError(ToolvetError):
    """A store cannot be opened, read or written: damaged, foreign, locked, full, or its server is gone."""

    exit_code = 2


class Unsatisfiable(ToolvetError, ValueError):  # noqa: N818 - the field's word, and the name that the public API promises.
    """No value can satisfy this JSON Schema."""

    exit_code = 2


class EnvelopeError(ToolvetError, ValueError):
    """An argument that no response envelope can hold.

    `argument` names it, followed by a JSON Pointer when the fault is deeper (`data/items/0`); `problem` says what is
    wrong with it.
    """

    exit_code = 2

    def __init__(self, argument: str, problem: str) -> None:
        self.argument = argument
        self.problem = problem
        super().__init__(f"{argument} {problem}")


class EnvelopeTypeError(EnvelopeError, TypeError):
    """An argument of a type that no response envelope can hold."""


class ArchiveError(ToolvetError):
    """An archive cannot store or return content: its file is damaged, foreign, locked or full."""


class ContentMissingError(ArchiveError, LookupError):
    """The archive has no content with the hash `content_hash`: never stored, expired, or dropped to make room."""

    def __init__(self, content_hash: str) -> None:
        self.content_hash = content_hash
        super().__init__(f"there is no content with the hash {content_hash}: it expired, made room, or was never here")


class ContentDamagedError(ArchiveError):
    """The content stored under `content_hash` has another hash now. The archive keeps it unchanged."""

    def __init__(self, content_hash: str) -> None:
        self.content_hash = content_hash
        super().__init__(f"the content under {content_hash} is damaged: its hash is another one by now")


def could_not_check(error: Exception) -> str:
    """Return the words for an exception of a check, which is a bug of ours. They quote nothing of what was checked.

    One place in the code has one wording, so that a log has it once.
    """
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    place = "" if trace is None else f" at {trace.tb_frame.f_code.co_filename.rpartition('/')[2]}:{trace.tb_lineno}"
    return f"could not be checked, because of a bug in toolvet: {type(error).__name__}{place}"
