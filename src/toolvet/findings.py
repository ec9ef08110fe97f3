"""The nouns every room speaks: how bad, how sure, what was seen, where, and what to do."""

from enum import StrEnum

import msgspec


class Severity(StrEnum):
    """How bad a finding is. Ordered: `Severity.ERROR.reaches(Severity.WARNING)`."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"

    @property
    def rank(self) -> int:
        """2 for an error, 1 for a warning, 0 for information."""
        return {"error": 2, "warning": 1, "info": 0}[self.value]

    def reaches(self, threshold: "Severity") -> bool:
        """Whether this severity is at or above `threshold`."""
        return self.rank >= threshold.rank


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that is wrong, or worth knowing, with the words that show it.

    `id` names the check (`toolvet explain ID` says more), `severity` how bad it is, `confidence` (0-100) how sure we
    are that a person would agree: the two are separate axes. `tool` is None when the whole server is meant. `message`
    says what is wrong in one sentence, `pointer` where (a JSON Pointer into the tool definition, the arguments or the
    result, as the message says), `evidence` quotes what was seen, `why` says why it matters, `remedy` what to do, and
    `reproduce` is a command line that shows it again. `scenario` is the id of the call in the report that shows it, and
    None for a finding about a definition, several calls together, or the server. `occurrences` counts the calls that
    showed the same thing.
    """

    id: str
    severity: Severity
    message: str
    confidence: int = 100
    tool: str | None = None
    pointer: str = ""
    evidence: str = ""
    why: str = ""
    remedy: str = ""
    reproduce: str = ""
    scenario: str | None = None
    occurrences: int = 1

    @property
    def fingerprint(self) -> tuple[str, str, str]:
        """What makes two findings of two runs the same one: check, tool and place, never the words seen."""
        return (self.id, self.tool or "", self.pointer)


class Card(msgspec.Struct, frozen=True, kw_only=True):
    """What a check is, said once: `explain`, the docs, SARIF rules and every report read it from here.

    `id` is the check's name in kebab case and never changes, `title` a headline without a full stop, `severity` what
    its findings usually have. `looks_for`, `why` and `remedy` are whole sentences: what is observed, what goes wrong
    for a model or its user when it is there, and what the author of the server does about it.
    """

    id: str
    title: str
    severity: Severity
    looks_for: str
    why: str
    remedy: str

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
    ) -> Finding:
        """A finding of this check; `severity` and `remedy` are the card's unless they are given.

            yield CARD.finding(message="The tool has no inputSchema.", pointer="/inputSchema")

        `tool` is for rules that look at the whole server and mean one of its tools.
        """
        return Finding(
            id=self.id,
            severity=severity or self.severity,
            confidence=confidence,
            tool=tool or None,
            message=message,
            pointer=pointer,
            evidence=evidence,
            why=self.why,
            remedy=remedy or self.remedy,
        )
