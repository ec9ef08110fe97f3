"""`Destination`: a platform that takes scores; each has a file in `destinations`, found because it is there."""

import os
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final, Protocol
from urllib.parse import urlsplit

from toolvet.core.discover import module_names
from toolvet.errors import UsageError
from toolvet.server.scores.score import Score

_FOLDER: Final = "toolvet.server.scores.destinations"


class ScoreSender(Protocol):
    """A connection to one project of a platform."""

    @property
    def place(self) -> str:
        """Where it sends to, without secrets: the platform, its address and the project."""
        ...

    @property
    def complaints(self) -> list[str]:
        """What the platform said of scores that it dropped, a sentence each; whoever reads them empties it."""
        ...

    def accepts(self, score: Score) -> bool:
        """Return whether the platform has something that this score can be tied to."""
        ...

    def send(self, scores: Sequence[Score]) -> frozenset[str]:
        """Send scores, and return the ids of those that the platform has when this returns.

        Raises UnreachableError where it does not answer or refuses, AuthenticationError where it wants other keys.
        """
        ...


@dataclass(frozen=True)
class Destination:
    """A platform.

    Attributes:
        title: Its name as a person writes it.
        open: Opens a connection; credentials come from the environment, under the names that the platform's own SDK
            has for them. Leaving the block closes it. Raises UsageError where the SDK or a variable is missing.
        needs: What a verdict must have to be tied to something there, in words.
    """

    title: str
    open: Callable[[], AbstractContextManager[ScoreSender]]
    needs: str


def destination_names() -> tuple[str, ...]:
    """Return the names of the platforms, without importing their SDKs."""
    return module_names(_FOLDER)


def destination(name: str) -> Destination:
    """Return a platform by its name. Raises UsageError for another."""
    if name not in destination_names():
        raise UsageError(f"{name} is none of the destinations: {', '.join(destination_names())}")
    found: Destination = import_module(f"{_FOLDER}.{name}").DESTINATION
    return found


def from_environment(title: str, *names: str) -> list[str]:
    """Return the values of these variables. Raises UsageError that names all which are missing."""
    missing = [name for name in names if not os.environ.get(name)]
    if missing:
        raise UsageError(f"{title} needs {' and '.join(missing)} in the environment")
    return [os.environ[name] for name in names]


def sdk_module(name: str, title: str, extra: str) -> Any:
    """Return a module of a platform's SDK, which is an extra. Raises UsageError where it is not installed."""
    try:
        return import_module(name)
    except ImportError as error:
        raise missing_sdk(title, extra, error) from error


def missing_sdk(title: str, extra: str, error: ImportError) -> UsageError:
    """Return the error for a platform whose SDK is not installed."""
    return UsageError(f'{title} needs its SDK ({error.name}): pip install "toolvet[{extra}]"')


def shown_url(url: str) -> str:
    """Return a URL without credentials and query."""
    parts = urlsplit(url)
    port = "" if parts.port is None else f":{parts.port}"
    return f"{parts.scheme}://{parts.hostname or ''}{port}{parts.path.rstrip('/')}"
