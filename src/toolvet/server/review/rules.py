"""Which verdicts people should see: `QueueRule`s, and `chooser`, which holds a verdict against them.

    [[review.queue]]
    name = "doubtful"
    kind = "answer"
    min_score = 0.4
    max_score = 0.8
    share = 0.2        # one in five of them
    priority = 1

A rule wants the verdicts that meet all of its conditions. Of several rules, the one with the highest priority counts.
"""

import hashlib
import math
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

import msgspec

from toolvet.core.discover import read_toml
from toolvet.core.json_value import elements, members
from toolvet.server.review.evidence import Reviewable

_SCALE: Final = 1 << 64


class QueueRule(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One rule by which the queue fills: a condition for each member that is given.

    `signal` is the type of one of the verdict's signals. `disagreement` wants answers that the rules found sound and
    the learned model did not. `share` (0 to 1) takes this share of those that fit, always the same ones. `reviewers` is
    how many people should see each, `priority` what comes first: more is sooner.
    """

    name: str
    kind: str | None = None
    server: str | None = None
    tool: str | None = None
    model: str | None = None
    signal: str | None = None
    failed: bool | None = None
    escalated: bool | None = None
    min_score: float | None = None
    max_score: float | None = None
    disagreement: bool = False
    share: float = 1.0
    priority: int = 0
    reviewers: int = 1

    def wants(self, verdict: Reviewable) -> bool:
        """Whether people should see this verdict."""
        for name in ("kind", "server", "tool", "model", "failed"):
            wanted = getattr(self, name)
            if wanted is not None and getattr(verdict, name) != wanted:
                return False
        if self.escalated is not None and verdict.escalate != self.escalated:
            return False
        if self.min_score is not None or self.max_score is not None:
            lowest = -math.inf if self.min_score is None else self.min_score
            highest = math.inf if self.max_score is None else self.max_score
            if verdict.score is None or not lowest <= verdict.score <= highest:
                return False
        if self.signal is not None and all(signal.type != self.signal for signal in verdict.signals):
            return False
        if self.share < 1:
            # A number from 0 up to 1 that looks random, and is always the same for this verdict and rule.
            drawn_by = f"{self.name}\0{verdict.id}".encode("utf-8", "replace")
            drawn = int.from_bytes(hashlib.blake2b(drawn_by, digest_size=8).digest(), "big") / _SCALE
            if drawn >= self.share:
                return False
        if not self.disagreement:
            return True
        # The learned model is asked only where no rule found anything of weight.
        sources = [members(signal).get("source") for signal in elements(verdict.detail.get("signals"))]
        return "model" in sources and not any(source in {"phrase", "shape", "custom"} for source in sources)


class QueueWish(NamedTuple):
    """That people should see a verdict: which rule says so, how soon, and how many people."""

    rule: str
    priority: int
    reviewers: int


class _RuleFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    queue: tuple[QueueRule, ...]


DEFAULT_RULES: Final = read_toml("toolvet.server.review", "rules.toml", _RuleFile).queue
"""The rules where the settings have none."""


def chooser(rules: Sequence[QueueRule]) -> Callable[[Reviewable], QueueWish | None]:
    """Return a function that decides whether people should see a verdict, and why.

    >>> from toolvet.server.review.rules import QueueRule, chooser
    >>> choose = chooser([QueueRule(name="all", share=0), QueueRule(name="low", max_score=0.5, priority=2)])
    """
    ordered = sorted(rules, key=lambda rule: -rule.priority)

    def choose(verdict: Reviewable) -> QueueWish | None:
        for rule in ordered:
            if rule.wants(verdict):
                return QueueWish(rule.name, rule.priority, max(1, rule.reviewers))
        return None

    return choose


def kinds_of(rules: Sequence[QueueRule]) -> frozenset[str] | None:
    """Return the kinds of verdicts that the rules can want, None for all kinds."""
    kinds = {rule.kind for rule in rules if rule.share > 0}
    return None if None in kinds else frozenset(kind for kind in kinds if kind is not None)
