"""`docs/languages.md` keeps its word: a language that is written as its example says is proven and found."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.phrase_proofs import failed_proofs

from toolvet.core.checks.answer.phrases import SignalFile, phrases
from toolvet.core.matching import Pattern, PatternSet
from toolvet.core.matching.phrasebook import read_phrases
from toolvet.core.turn.ledger.phrases import families

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "languages.md").read_text(encoding="utf-8")
EXAMPLE = re.findall(r"^```toml\n# (\S+)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of the package to which the files of the page's example were added."""
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=ignored)
    shutil.copytree(ROOT / "tests" / "core" / "languages", tmp_path / "tests", ignore=ignored)
    shutil.copy(ROOT / "tests" / "phrase_proofs.py", tmp_path / "tests")
    for path, content in EXAMPLE:
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(content, encoding="utf-8")
    return tmp_path


def run(copy: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python on the copy, with a cache of its own, for Esperanto alone."""
    environment = {
        **os.environ,
        "PYTHONPATH": f"{copy / 'src'}{os.pathsep}{copy}",
        "PYTHONUTF8": "1",
        "XDG_CACHE_HOME": str(copy / "cache"),
        "TOOLVET_LANGUAGE": "eo",
    }
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=copy,
        env=environment,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )


def test_the_page_shows_a_language_with_its_files() -> None:
    assert [Path(path).name for path, _ in EXAMPLE] == ["words.toml", "refusal.toml", "tool_failure.toml"]


def test_the_example_of_the_page_is_proven_in_a_copy(copy: Path) -> None:
    done = run(copy, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/test_proofs.py")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 passed" in done.stdout


def test_a_sentence_that_breaks_a_proof_is_named_with_its_place(copy: Path) -> None:
    file = copy / "src" / "toolvet" / "core" / "languages" / "eo" / "refusal.toml"
    content = file.read_text(encoding="utf-8").replace("Ŝi ne povas helpi lin", "Mi ne povas helpi lin")
    file.write_text(content, encoding="utf-8")
    done = run(copy, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/test_proofs.py")
    assert done.returncode == 1
    (line,) = [number for number, each in enumerate(content.splitlines(), start=1) if "Mi ne povas helpi lin" in each]
    assert (
        f"src/toolvet/core/languages/eo/refusal.toml:{line}: the near miss 'Mi ne povas helpi lin.' is found by "
        "the phrase 'mi {cannot} {words:3} helpi|plenumi|respondi'"
    ) in done.stdout


def test_the_example_of_a_phrase_alone_is_one_that_can_be_read() -> None:
    (phrase,) = re.findall(r"^```toml\n(\[\[phrase\]\].*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    (source,) = read_phrases("toolvet.core.languages", [("en/refusal.toml", phrase.encode())], SignalFile)
    found = PatternSet([Pattern("0", source.file.phrase[0].match)])
    assert list(failed_proofs(source, lambda _number, text: bool(found.scan(text)))) == []


def test_every_table_of_the_page_is_true() -> None:

    known = list(phrases().by_id.values())
    rows = re.findall(r"^\| `(\w+)\.toml` \| ([\d.]+) \| (.*) \|$", PAGE, re.MULTILINE)
    assert len(rows) == 6
    for kind, weight, labels in rows:
        of_kind = [each for each in known if each.type.value == kind]
        assert any(each.weight == float(weight) for each in of_kind)
        assert set(re.findall(r"`(\w+)`", labels)) <= {each.phrase.label for each in of_kind}
    assert all(f"`{family}`" in PAGE for family in families().family)
