"""What became of the mutants of a room: the score, the survivors, and the reasons why some may stay."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.mutants.fork import Outcome
from benchmarks.mutants.mutation import Mutation


class Report(NamedTuple):
    """The outcome of each mutant of a sample."""

    room: str
    seed: int
    total: int
    trials: Sequence[tuple[Mutation, Outcome]]
    broken: tuple[str, ...]

    @property
    def score(self) -> float:
        """The share that was killed; an endless one counts when it was endless twice."""
        return 1 - len(self.survivors) / len(self.trials) if self.trials else 1.0

    @property
    def survivors(self) -> list[tuple[Mutation, Outcome]]:
        """Those that no test noticed, with those that no test reaches."""
        return [(mutation, outcome) for mutation, outcome in self.trials if outcome.kind in {"survived", "unreached"}]

    def __str__(self) -> str:
        """The survivors, and a line with the score."""
        lines = [
            f"{mutation.path}:{mutation.line}: {mutation.function or '<module>'}: {mutation.before} → {mutation.after}"
            + (" (no test reaches it)" if outcome.kind == "unreached" else "")
            for mutation, outcome in self.survivors
        ]
        killed = len(self.trials) - len(lines)
        endless = sum(outcome.kind == "endless" for _, outcome in self.trials)
        lines.extend(f"left out, because it fails without any fault: {test}" for test in self.broken)
        lines.append(
            f"{self.room}: {killed} of {len(self.trials)} killed, {self.score:.1%} "
            f"({endless} of them endless; sample {self.seed} of {self.total} mutants)"
        )
        return "\n".join(lines)

    def as_json(self) -> str:
        """The same with every mutant."""
        rows = [
            {
                "id": mutation.id,
                "file": mutation.path.as_posix(),
                "line": mutation.line,
                "before": mutation.before,
                "after": mutation.after,
                "outcome": outcome.kind,
                "by": outcome.test,
            }
            for mutation, outcome in self.trials
        ]
        head = {"room": self.room, "seed": self.seed, "mutants": self.total, "tried": len(rows), "score": self.score}
        return json.dumps({**head, "trials": rows}, indent=1, ensure_ascii=False) + "\n"

    @staticmethod
    def survivors_of(path: Path) -> frozenset[str]:
        """The ids of those that survived in a report that was written."""
        rows = json.loads(path.read_text(encoding="utf-8"))["trials"]
        return frozenset(row["id"] for row in rows if row["outcome"] in {"survived", "unreached"})
