"""`toolvet.version` says how to install toolvet, and all texts for users agree with it."""

import os
import re
from pathlib import Path

import pytest

from toolvet.version import PUBLISHED, requirement

ROOT = Path(__file__).parent.parent
# The requirement that pip gets, with its extras, in the quotes around it.
LINE = re.compile(
    r"(?<=pip install )(?P<quote>['\"]?)toolvet(?:\[(?P<extras>[\w,-]+)\])?"
    r"(?: @ git\+https://github\.com/toolvet/toolvet)?(?P=quote)(?![\w-])"
)
# Other ways to run a package by its name alone.
BY_NAME = re.compile(r"\b(?:uvx|pipx run|pipx install|uv tool install|uv add|--with|poetry add) toolvet\b")


def right(text: str) -> str:
    def line(found: re.Match[str]) -> str:
        quote = found["quote"] or ("" if PUBLISHED and not found["extras"] else '"')
        return f"{quote}{requirement(found['extras'] or '')}{quote}"

    return LINE.sub(line, text)


def read_by_users() -> list[Path]:
    # Pages generated from the code are checked elsewhere.
    made = {ROOT / "docs" / name for name in ("api.md", "commands.md")}
    files = [*ROOT.glob("*.md"), *ROOT.glob("*.yml"), *ROOT.glob("llms.txt"), ROOT / "Makefile", ROOT / "Containerfile"]
    files += [*(ROOT / ".github").rglob("*.yml"), *(ROOT / "examples").rglob("*.py"), *(ROOT / "docs").rglob("*.md")]
    files += [each for each in (ROOT / "src").rglob("*") if each.suffix in (".py", ".toml", ".jinja", ".md")]
    return sorted(set(files) - made)


def test_every_line_that_installs_toolvet_is_the_one_that_works_today() -> None:
    wrong: list[str] = []
    for file in read_by_users():
        text = file.read_text(encoding="utf-8")
        if text != right(text):
            if os.environ.get("TOOLVET_UPDATE_SNAPSHOTS"):
                file.write_text(right(text), encoding="utf-8", newline="")
            wrong.append(f"{file.relative_to(ROOT)}")
        if not PUBLISHED:
            wrong += [f"{file.relative_to(ROOT)}: {found}" for found in BY_NAME.findall(text)]
    assert wrong == [], "TOOLVET_UPDATE_SNAPSHOTS=1 rewrites them"


def test_the_readme_says_whether_the_name_is_on_the_index() -> None:
    for file in ("README.md", "docs/quickstart.md"):
        assert ("not on PyPI yet" in (ROOT / file).read_text(encoding="utf-8")) == (not PUBLISHED)


@pytest.mark.parametrize(
    ("text", "hit"),
    [
        ("pip install toolvet", True),
        ("pip install 'toolvet[http]'", True),
        ('pip install "toolvet[a,b] @ git+https://github.com/toolvet/toolvet"', True),
        ("pip install toolvet-extra", False),
        ("pip install .[batch]", False),
        ("the package toolvet[http]", False),
    ],
)
def test_a_line_is_found_whatever_its_extras(text: str, hit: bool) -> None:  # noqa: FBT001
    assert bool(LINE.search(text)) == hit
    if hit:
        assert requirement("") in right("pip install toolvet")
        assert right(right(text)) == right(text)
