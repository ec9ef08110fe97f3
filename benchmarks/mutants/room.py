"""The rooms of `rooms.toml`: files to change, and the tests that must notice."""

import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

from benchmarks.mutants.mutation import Mutation, find_mutations

ROOT: Final = Path(__file__).parent.parent.parent
_ROOMS: Final = Path(__file__).parent / "rooms.toml"


class Room(NamedTuple):
    """What is mutated, and which tests judge it; paths from `root`."""

    name: str
    files: tuple[Path, ...]
    tests: tuple[str, ...]
    root: Path = ROOT
    package: str = "toolvet"

    def mutations(self) -> list[Mutation]:
        """Return all faults of all files."""
        return [
            mutation
            for path in self.files
            for mutation in find_mutations(path, (self.root / path).read_text(encoding="utf-8"))
        ]


def read_rooms(table: Path | None = None) -> dict[str, Room]:
    """Return the rooms of a table by name; the paths of another table than ours begin at its folder."""
    root = ROOT if table is None else table.resolve().parent
    written = tomllib.loads((table or _ROOMS).read_text(encoding="utf-8"))
    return {
        name: Room(name, _found(row["files"], root), tuple(map(str, _found(row["tests"], root))), root)._replace(
            package=row.get("package", "toolvet")
        )
        for name, row in written.items()
    }


def _found(patterns: Sequence[str], root: Path) -> tuple[Path, ...]:
    return tuple(sorted(path.relative_to(root) for pattern in patterns for path in root.glob(pattern)))
