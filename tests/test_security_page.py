"""docs/security.md: every test that it names exists, so that no line promises more than is tested."""

import re
from pathlib import Path

import pytest

HERE = Path(__file__).parent
PAGE = HERE.parent / "docs" / "security.md"
NAMED = re.compile(r"`([\w/]+\.py)(?:::(\w+))?`")
NAMES = sorted(set(NAMED.findall(PAGE.read_text(encoding="utf-8"))))


@pytest.mark.parametrize(("file", "function"), NAMES, ids="::".join)
def test_a_test_that_is_named_exists(file: str, function: str) -> None:
    path = HERE / file
    assert path.is_file(), f"docs/security.md names {file}, which is not in tests/"
    assert path.name.startswith("test_")
    text = path.read_text(encoding="utf-8")
    assert not function or re.search(rf"^(?:async )?def {function}\(", text, re.MULTILINE), f"{file} has no {function}"


def promising_rows() -> list[str]:
    """The rows of the tables that have a column of tests."""
    rows: list[str] = []
    promises = False
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        if line.endswith("| tests |"):
            promises = True
        elif not line.startswith("|"):
            promises = False
        elif promises and not line.startswith("|---"):
            rows.append(line)
    return rows


def test_every_line_that_promises_something_names_a_test() -> None:
    rows = promising_rows()
    assert len(rows) > 40
    assert [row for row in rows if not NAMED.search(row)] == []
