"""GLOSSARY.md is a short list of words in order, and no class name stands for two things."""

import ast
import re
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "toolvet"

# One adapter for each framework, and each named as its framework's users expect to find it: a user imports one of
# them and never sees the other.
ONE_PER_FRAMEWORK = {"ProxyMiddleware", "ToolValidationMiddleware"}


def test_the_words_are_few_in_order_and_explained_in_a_sentence() -> None:
    lines = (ROOT / "GLOSSARY.md").read_text(encoding="utf-8").splitlines()
    entries = [re.fullmatch(r"- \*\*(.+?)\*\*: (\S.*\.)", line) for line in lines if line.startswith("-")]
    words = [entry[1] for entry in entries if entry is not None]
    assert len(words) == len(entries), "a word is explained as `- **word**: a sentence.`"
    assert words == sorted(set(words), key=str.lower)
    assert 20 <= len(words) <= 60


def test_no_class_name_stands_for_two_things() -> None:
    files: dict[str, list[str]] = defaultdict(list)
    for file in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                files[node.name.lstrip("_")].append(file.relative_to(PACKAGE).as_posix())
    for name, places in sorted(files.items()):
        if name in ONE_PER_FRAMEWORK:
            assert all(place.startswith("agents/integrations/") for place in places)
            assert len(places) == len(set(places))
            continue
        assert len(places) == 1, f"the class name {name} stands for {len(places)} things: {', '.join(places)}"
