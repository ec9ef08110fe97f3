"""No pattern of the program has a possessive quantifier (`a*+`) or an atomic group (`(?>a)`).

Python 3.11.2, which Debian 12 has as `python3`, finds impossible spans with them: `finditer` goes back and never ends.
"""

import ast
import re
import tomllib
import warnings
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import pytest

from toolvet.core.matching.dialect import translate

SOURCES = Path(str(files("toolvet")))
SIGNS = ("*+", "++", "?+", "}+", "(?>")


def has_possessive(pattern: str | bytes) -> bool:
    """Whether `re` reads the text as a pattern with such a part. Text that is not a pattern has none."""
    if not any(sign in (pattern if isinstance(pattern, str) else pattern.decode("latin-1")) for sign in SIGNS):
        return False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = re._parser.parse(pattern)  # type: ignore[attr-defined]
    except (re.error, OverflowError, RecursionError):
        return False
    return any(name in {"POSSESSIVE_REPEAT", "ATOMIC_GROUP"} for name in operations(tree))


def operations(tree: object) -> Iterator[str]:
    """The names of all operations of a parsed pattern, at any depth."""
    if isinstance(tree, re._constants._NamedIntConstant):  # type: ignore[attr-defined]
        yield tree.name
    elif isinstance(tree, tuple | list | re._parser.SubPattern):  # type: ignore[attr-defined]
        for part in tree:
            yield from operations(part)


def texts_of_code(source: str) -> Iterator[tuple[int, str | bytes]]:
    """Every text in the code, with its line; what an f-string puts in counts as the letter x."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str | bytes):
            yield node.lineno, node.value
        elif isinstance(node, ast.JoinedStr):
            parts = [part.value if isinstance(part, ast.Constant) else "x" for part in node.values]
            yield node.lineno, "".join(map(str, parts))


def texts_of_data(value: object) -> Iterator[str]:
    """Every text in a TOML document."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for member in value.values() if isinstance(value, dict) else value:
            yield from texts_of_data(member)


ADVICE = (
    "has a possessive quantifier or an atomic group, which Python 3.11.2 matches wrongly. Write it without: where what "
    "follows a repeat cannot begin with what the repeat has read, a greedy one finds the same"
)


def test_no_pattern_in_the_code_has_a_possessive_part() -> None:
    for path in sorted(SOURCES.rglob("*.py")):
        for line, text in texts_of_code(path.read_text("utf-8")):
            assert not has_possessive(text), f"{path.relative_to(SOURCES)}:{line}: the pattern {text!r} {ADVICE}."


def test_no_pattern_in_the_data_has_a_possessive_part() -> None:
    for path in sorted(SOURCES.rglob("*.toml")):
        for text in texts_of_data(tomllib.loads(path.read_text("utf-8"))):
            assert not has_possessive(text), f"{path.relative_to(SOURCES)}: the pattern {text!r} {ADVICE}."


@pytest.mark.parametrize(
    "regex", [r"\b(?:a+b*|c?d{2,3})+[e-g]{1,9}\s+\w*x", r"(?:я{2,}|\d+?)\b.{0,40}мир", "(?:a|b|)+c"]
)
def test_what_is_written_for_an_engine_has_no_possessive_part(regex: str) -> None:
    written = translate(regex, re.IGNORECASE, spans=True)
    for text in (written.python, written.first, written.hyperscan):
        assert not has_possessive(text), f"{regex!r} is written as {text!r}, which {ADVICE}."


@pytest.mark.parametrize("pattern", ["a++", "(?:b|a*+)c", "[a-z]{1,3}+x", b"a?+", "(?=(?>a))", "(?:(?P<n>a)|x(y?+))*"])
def test_a_possessive_part_is_seen_at_any_depth(pattern: str | bytes) -> None:
    assert has_possessive(pattern)


@pytest.mark.parametrize("pattern", ["a+", r"a\++", "[+]+", "C++ (", b"a*?"])
def test_what_only_looks_like_one_is_left_alone(pattern: str | bytes) -> None:
    assert not has_possessive(pattern)
