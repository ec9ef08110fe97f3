"""Links of the documentation lead somewhere, in the repository and on a package index."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("**/*.md"), *(ROOT / "src").glob("**/*.md")])
SOURCE = "https://github.com/toolvet/toolvet"
ABSOLUTE = re.compile(rf"{SOURCE}/(?:blob|tree)/main/")
LINK = re.compile(r"\]\(([^)\s]+)\)")
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)


def links(page: Path) -> Iterator[str]:
    """Where the links of a page lead; code is left out."""
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    yield from LINK.findall(re.sub(r"`[^`\n]*`(?!\])", "", text))


def anchors(page: Path) -> set[str]:
    """The anchors of a page: its headings as GitHub names them, and those that it sets itself."""
    text = page.read_text(encoding="utf-8")
    headings = re.findall(r"^#+ (.*)$", FENCE.sub("", text), re.MULTILINE)
    named = {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}
    return named | set(re.findall(r'<a id="([^"]+)">', text))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_link_into_the_repository_leads_somewhere(page: Path) -> None:
    for link in links(page):
        inside = ABSOLUTE.sub("/", link)
        if re.match(r"[a-z]+:", inside):
            continue
        path, _, anchor = inside.partition("#")
        target = ROOT / path[1:] if path.startswith("/") else page.parent / path if path else page
        assert target.exists(), f"{page.name}: {link} leads to nothing"
        assert not anchor or anchor in anchors(target), f"{page.name}: {link}: there is no such heading"


def test_the_readme_has_no_relative_link_because_a_package_index_shows_it_too() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["readme"] == "README.md", "this is the text that a package index shows, as it is"
    every = list(links(ROOT / "README.md"))
    assert len(every) > 10
    assert [link for link in every if not link.startswith(("https://", "#"))] == []


def test_the_project_says_where_it_lives() -> None:
    urls = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["urls"]
    assert set(urls) == {"Homepage", "Documentation", "Source", "Issues", "Changelog"}
    assert all(url.startswith(SOURCE) for url in urls.values())
    for url in urls.values():
        if ABSOLUTE.match(url):
            assert (ROOT / ABSOLUTE.sub("", url)).exists(), url


def test_the_changelog_has_the_version_of_the_package() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    headings = re.findall(r"^## \[([^\]]+)\](?: - (\d{4}-\d\d-\d\d))?$", changelog, re.MULTILINE)
    assert headings[0] == ("Unreleased", "")
    assert all(date for _, date in headings[1:])
    version = re.search(r'"(.+)"', (ROOT / "src" / "toolvet" / "version.py").read_text(encoding="utf-8").split("=")[1])
    assert version is not None
    assert headings[1][0] == version[1]
    for name, _ in headings:
        assert f"\n[{name}]: {SOURCE}/" in changelog, f"the changelog has no link for {name}"
