"""Writes the pages of the site: those of docs/, the README as the first, and links out of docs/ to the repository.

Each check of `checks.md` also gets a page of its own, which a search engine and a report can link to.

python docs/site/prepare.py build/pages
"""

import re
import shutil
import sys
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
SOURCE: Final = "https://github.com/toolvet/toolvet/blob/main/"
_PICTURES: Final = "https://raw.githubusercontent.com/toolvet/toolvet/main/docs/"
# GitHub has no other way to name a heading. In the site's table of contents it would be a link without a name.
_ANCHOR: Final = re.compile(r'^(#+) <a id="([\w-]+)"></a>(.*)$', re.MULTILINE)
_CHECK: Final = re.compile(r'^### <a id="([\w-]+)"></a>`[\w-]+`\n(.*?)(?=^##|\Z)', re.MULTILINE | re.DOTALL)
_OUT: Final = re.compile(r"(?<=\]\()\.\./([^)#\s]+)")


def main(folder: Path) -> None:
    """Write all pages into the folder, which is emptied before."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(ROOT / "docs", folder, ignore=shutil.ignore_patterns("site"))
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (folder / "index.md").write_text(readme.replace(f"{SOURCE}docs/", "").replace(_PICTURES, ""), encoding="utf-8")
    for name in ("site.css", "site.js"):
        shutil.copy(ROOT / "docs" / "site" / name, folder)
    for page in folder.glob("*.md"):
        # A file that is not there stays a broken link, which the build complains of.
        words = _OUT.sub(
            lambda link: SOURCE + link[1] if (ROOT / link[1]).exists() else link[0], page.read_text(encoding="utf-8")
        )
        page.write_text(_ANCHOR.sub(r"\1 \3 {#\2}", words), encoding="utf-8")
    split_checks(folder)


def split_checks(folder: Path) -> None:
    """Write `checks/ID.md` for each check, and let the index of checks.md lead there."""
    page = folder / "checks.md"
    (folder / "checks").mkdir()
    for check, section in _CHECK.findall((ROOT / "docs" / "checks.md").read_text(encoding="utf-8")):
        words = re.sub(r"\]\(#", "](../checks.md#", re.sub(r"\]\((?=[\w/-]+\.md)", "](../", section))
        text = f"# `{check}`\n{words.rstrip()}\n\n[All checks](../checks.md)\n"
        (folder / "checks" / f"{check}.md").write_text(text, encoding="utf-8")
    page.write_text(
        re.sub(
            r"^- \[`([\w-]+)`\]\(#\1\)", r"- [`\1`](checks/\1.md)", page.read_text(encoding="utf-8"), flags=re.MULTILINE
        ),
        encoding="utf-8",
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
