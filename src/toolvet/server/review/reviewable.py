"""A verdict as this room sees it, so that it needs no store."""

from collections.abc import Mapping, Sequence
from typing import Protocol


class ReviewableSignal(Protocol):
    """One reason of a verdict, as a store keeps it."""

    @property
    def type(self) -> str:
        """What it is, such as `refusal`."""
        ...

    @property
    def level(self) -> str:
        """How grave it is."""
        ...


class Reviewable(Protocol):
    """What this room reads of a verdict; a `VerdictRecord` of a store has all of it."""

    @property
    def id(self) -> str:
        """The id of the verdict."""
        ...

    @property
    def kind(self) -> str:
        """What was judged, such as `answer`."""
        ...

    @property
    def server(self) -> str:
        """The server that was called."""
        ...

    @property
    def tool(self) -> str | None:
        """The tool that was called."""
        ...

    @property
    def model(self) -> str | None:
        """The model that wrote the answer."""
        ...

    @property
    def failed(self) -> bool:
        """Whether what was judged went wrong."""
        ...

    @property
    def escalate(self) -> bool:
        """Whether a person should see it."""
        ...

    @property
    def score(self) -> float | None:
        """0 to 1."""
        ...

    @property
    def signals(self) -> Sequence[ReviewableSignal]:
        """The reasons, each with its `type`."""
        ...

    @property
    def detail(self) -> Mapping[str, object]:
        """The verdict as JSON."""
        ...

    @property
    def text(self) -> str | None:
        """What was judged: an answer."""
        ...
