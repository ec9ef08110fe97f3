"""The nouns that all rooms share: a finding, its severity, and the card of the check that it comes from."""

from collections.abc import Container
from enum import StrEnum
from typing import Annotated, ClassVar, Literal, TypeAlias

import msgspec

# Entries of a server's lists besides tools.
ItemKind: TypeAlias = Literal["resource", "resource_template", "prompt", "skill"]


class Severity(StrEnum):
    """How bad a finding is: an error, a warning or information."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"

    @property
    def rank(self) -> int:
        """2 for an error, 1 for a warning, 0 for information."""
        return {"error": 2, "warning": 1, "info": 0}[self.value]

    def reaches(self, threshold: "Severity") -> bool:
        """Whether this severity is at or above `threshold`.

        >>> Severity.ERROR.reaches(Severity.WARNING), Severity.INFO.reaches(Severity.WARNING)
        (True, False)
        """
        return self.rank >= threshold.rank


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that is wrong or worth knowing, with its evidence.

    Attributes:
        id: the check that found it; `toolvet explain ID` says more.
        severity: how bad it is.
        message: what is wrong, in one sentence.
        confidence: how sure we are that a person would agree, 0 to 100; independent of the severity.
        tool: the tool's name, None for a finding about several tools or anything else.
        tools: the tools that one cause touches alike; message, evidence and command are those of the first. Empty for
            any other finding.
        cause: what the findings of `tools` have in common: the words behind them, without names and values.
        item: the URI, the URI template or the name of the resource, template or prompt (`item_kind`) that it is about;
            None for a finding about a tool or the whole server.
        items: the same for several of one kind that one cause touches alike, as `tools` for tools.
        item_kind: what `item`, or each of `items`, is.
        pointer: a JSON Pointer into the tool definition, the arguments or the result, as the message says.
        evidence: a quotation of what was seen.
        why: why it matters.
        remedy: what to do about it.
        reproduce: a command line that shows it again.
        scenario: the id of the call in the report that shows it; None for findings about a definition, several
            calls or the server.
        occurrences: the number of calls that showed the same thing, or of parameters that have it.
    """

    # Members that the verdict on an envelope omits (`toolvet.core.json_form`). Reports show all.
    _hides: ClassVar = (
        "tool", "tools", "cause", "item", "items", "item_kind", "why", "reproduce", "scenario", "occurrences"
    )  # fmt: skip

    id: str
    severity: Severity
    message: str
    confidence: Annotated[int, msgspec.Meta(ge=0, le=100)] = 100
    tool: str | None = None
    tools: tuple[str, ...] = ()
    cause: str = ""
    item: str | None = None
    items: tuple[str, ...] = ()
    item_kind: ItemKind | None = None
    pointer: str = ""
    evidence: str = ""
    why: str = ""
    remedy: str = ""
    reproduce: str = ""
    scenario: str | None = None
    occurrences: int = 1

    @property
    def subject(self) -> str | None:
        """The subject of the finding, for a person: the tool's name, `prompt plan`; None for the whole server.

        >>> Finding(id="a", severity=Severity.INFO, message="", item="plan", item_kind="prompt").subject
        'prompt plan'
        """
        if self.item is None or self.item_kind is None:
            return self.tool
        return f"{self.item_kind.replace('_', ' ')} {self.item}"

    @property
    def fingerprint(self) -> tuple[str, str, str]:
        """The identity of a finding across runs: check, subject (or the cause that tools share) and place."""
        return (self.id, self.subject or (self.cause if self.together else ""), self.pointer)

    @property
    def concerns(self) -> tuple[str, ...]:
        """The tools that the finding is about: one, those that share its cause, or none for anything else.

        >>> Finding(id="x", severity=Severity.INFO, message="", tools=("a", "b", "c")).concerns
        ('a', 'b', 'c')
        """
        return self.tools or (() if self.tool is None else (self.tool,))

    @property
    def subjects(self) -> tuple[str, ...]:
        """The subjects of the finding, for a person: tools, or a resource, template or prompt; none for the server."""
        if self.items and self.item_kind is not None:
            return tuple(f"{self.item_kind.replace('_', ' ')} {name}" for name in self.items)
        return self.tools or (() if self.subject is None else (self.subject,))

    @property
    def together(self) -> tuple[str, ...]:
        """The names of the tools or items that share the cause of this finding; empty for a finding of one or none."""
        return self.tools or self.items

    def narrow(self, names: Container[str]) -> "Finding | None":
        """The finding for those of its tools or items that are among `names`; None when none of them is."""
        kept = tuple(name for name in self.together if name in names)
        if len(kept) == len(self.together):
            return self
        if len(kept) > 1:
            return msgspec.structs.replace(self, **{"items" if self.items else "tools": kept}, occurrences=len(kept))
        return self.of_one(kept[0]) if kept else None

    def of_one(self, name: str) -> "Finding":
        """The finding for one of the tools or items that share its cause."""
        one: dict[str, object] = {"item": name, "items": ()} if self.items else {"tool": name, "tools": ()}
        return msgspec.structs.replace(self, **one, cause="", occurrences=1)


class Card(msgspec.Struct, frozen=True, kw_only=True):
    """The description of a check; `explain`, the docs, the SARIF rules and every report are made from it.

    Attributes:
        id: the check's name in kebab case, which never changes.
        title: a headline without a full stop.
        severity: the usual severity of its findings.
        looks_for: what the check observes, in whole sentences, as are the next two.
        why: what goes wrong for a model or its user.
        remedy: what the author of the server can do.
        many: what several of its notes say in one line, with `{count}` for their number.
        is_of_sdk: whether the SDK in use usually decides this, so that its findings come last.
    """

    id: str
    title: str
    severity: Severity
    looks_for: str
    why: str
    remedy: str
    many: str = ""
    is_of_sdk: bool = False

    def finding(
        self,
        *,
        message: str,
        evidence: str = "",
        pointer: str = "",
        confidence: int = 100,
        severity: Severity | None = None,
        remedy: str | None = None,
        tool: str | None = None,
        cause: str = "",
        item: tuple[ItemKind, str] | None = None,
        occurrences: int = 1,
    ) -> Finding:
        """A finding of this check; `severity` and `remedy` are the card's unless they are given.

            yield SCHEMA_NOT_OBJECT.finding(message="The tool has no inputSchema.", pointer="/inputSchema")

        `tool` and `item` (its kind and its identity) are for rules that look at the whole server and mean one of its
        tools, resources, templates or prompts. `cause` is for findings that several tools may have for one reason
        (`cause_of` in `rules/ending.py`).
        """
        return Finding(
            id=self.id,
            severity=severity or self.severity,
            confidence=confidence,
            tool=tool or None,
            cause=cause,
            item=item[1] if item else None,
            item_kind=item[0] if item else None,
            message=message,
            pointer=pointer,
            evidence=evidence,
            why=self.why,
            remedy=remedy or self.remedy,
            occurrences=occurrences,
        )
