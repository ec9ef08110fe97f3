"""Whether an error is a sentence that the tool's author wrote for the caller.

"The vehicle is in maintenance" holds no phrase that a list could know; but it is prose, and no word of it is about
machinery. That is a vague sign of business logic, and like every vague one it needs a second factor.
"""

import re
from functools import cache
from typing import cast

import msgspec

from toolvet.core.checks.result.silent import strings_of
from toolvet.core.discover.toml import read_toml

_LONGEST = 300
_FEWEST_WORDS = 3
_LONGEST_FOREIGN = 1_000
_FEWEST_FOREIGN = 2
_LAST_LATIN = "\u024f"
# "Error executing tool x: ", "Database error: ", "[ERROR] ": who speaks, before what is said.
_PREFIX = re.compile(
    r"^\W{0,6}(?:[^:\n]{0,60}\b(?:error|failed|failure|exception|mcp)\b[^:\n]{0,60}:\s*){1,3}", re.IGNORECASE
)
_REPORTING = frozenset(("error", "errors", "failed", "failure", "exception", "mcp", "tool"))
_WORD = re.compile(r"[^\W\d_]+(?:['\u2019][a-z]+)?")
# Chinese, Japanese, Thai and such put no spaces between words.
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]")
_FEWEST_UNSPACED = 6
# What is quoted is the caller's, or a name; so is an address, and a path from the root. What a path is made of says
# nothing, and a temporary folder has another name in each run.
_NAMES = re.compile(
    r"\"[^\"]*\"|'[^' ]*'|`[^`]*`|https?://\S+|(?<![\w.~/\\])(?:[A-Za-z]:[/\\]|~?/)[\w.@+~-]+(?:[/\\][\w.@+~-]*)+"
)
# Identifiers, calls, stack frames: the words of a program.
_CODE = re.compile(r"[(){}<>=\\|]|::|->|\w\.\w+\.\w|[a-z][A-Z]|\w_\w|0x[0-9a-f]|\n.*\n", re.DOTALL)


class _SentenceWords(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    words: tuple[str, ...]


def plain_sentence(text: str) -> str:
    """The sentence, if the error is one about what the caller asked for; else empty."""
    if len(text) > _LONGEST:
        return ""
    said = text.strip()
    if said.startswith("{"):
        said = _message(said)
    opening = _PREFIX.match(said)
    if opening is not None:
        if any(_is_technical(word) for word in _WORD.findall(opening.group()) if word.lower() not in _REPORTING):
            return ""
        said = said[opening.end() :]
    bare = _NAMES.sub("", said)
    if _CODE.search(bare):
        return ""
    words = _WORD.findall(bare)
    long_enough = len(words) >= _FEWEST_WORDS or len(_UNSPACED.findall(bare)) >= _FEWEST_UNSPACED
    return said if long_enough and not any(_is_technical(word) for word in words) else ""


def is_foreign(text: str) -> bool:
    """Whether a text is written in a language whose words we do not read: unclear words of it prove no failure.

    Two words that only such a language has ("Die Datei konnte nicht gelesen werden"), or mostly letters that are not
    Latin.
    """
    read = text[:_LONGEST_FOREIGN]
    letters = [letter for letter in read if letter.isalpha()]
    if sum(letter > _LAST_LATIN for letter in letters) * 2 > len(letters):
        return True
    known = _foreign()
    return len({word for word in (found.lower() for found in _WORD.findall(read)) if word in known}) >= _FEWEST_FOREIGN


@cache
def _foreign() -> frozenset[str]:
    return frozenset(read_toml("toolvet.core.checks.result", "foreign_words.toml", _SentenceWords).words)


def _is_technical(word: str) -> bool:
    return _technical().fullmatch(word.lower()) is not None


def _message(text: str) -> str:
    """The longest text in a JSON error, which is the one for people."""
    try:
        value = cast("object", msgspec.json.decode(text))
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return ""
    return max(strings_of(value).split("\n"), key=len)


@cache
def _technical() -> re.Pattern[str]:
    words = read_toml("toolvet.core.checks.result", "technical_words.toml", _SentenceWords).words
    return re.compile("|".join(re.escape(word).replace(r"\*", "[a-z]*") for word in words))
