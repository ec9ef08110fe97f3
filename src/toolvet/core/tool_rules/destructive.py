"""Which tools may do harm, judged by their name and their description.

Nothing here proves that a tool is harmless. It decides what an assessment calls without the user's consent, so a doubt
counts against calling; but a name that only mentions an action (`list_orders`, `commit_log`) raises no doubt.

    name         get_or_create_book
    words        get, or, create, book
    verbs        get (it reads), and create (mild: it changes something), which "or" adds
    actions        create, "its name says 'create'"
    called       no, for that reason; yes, if the annotations say readOnlyHint: true
"""

import re
from collections.abc import Iterator, Sequence, Set as AbstractSet
from functools import cache
from typing import Final, Literal

import msgspec

from toolvet.core.discover.toml import read_toml
from toolvet.core.redact import word_segments
from toolvet.core.tool_rules.subject import ToolDefinition

Force = Literal["read", "mild", "strong"]
_LONGEST_NAME: Final = 256
_LONGEST_DESCRIPTION: Final = 2_000
_LONGEST_BEGINNING: Final = 400
_LOOK_AHEAD: Final = (
    6  # "Retrieve and delete messages", "Save or update a watch": later verbs belong to something else.
)
_SENTENCE: Final = re.compile(r"[.!?](?:\s|$)|\n\s*\n")
# After a word that is a noun as often, one of these makes it a verb: "comments and marks it as read".
_DETERMINERS: Final = frozenset(
    {"a", "all", "an", "any", "each", "every", "it", "its", "new", "the", "them", "this", "your"}
)
_SHOWN: Final = frozenset({"command", "commands", "example", "examples", "guide", "guides", "plan", "schema", "steps"})
# What readers say as well: "Makes a request", "Calls the API", "Opens the page".
_VAGUE: Final = frozenset({"call", "make", "new", "open"})
_WORD: Final = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:-[A-Za-z]+)*|,")


class ToolAction(msgspec.Struct, frozen=True):
    """A verb of a tool that changes something: the verb's base form, how strong it is, and a reason that quotes it."""

    word: str
    force: Force
    reason: str

    @property
    def changes(self) -> bool:
        """Whether it always changes something: `delete` does, and `execute` may only read."""
        return self.word in _load_words().changes

    @property
    def destroys(self) -> bool:
        """Whether it removes or overwrites something."""
        return self.word in _load_words().destroys


def find_actions(tool: ToolDefinition) -> Iterator[ToolAction]:
    """The actions in the tool's name and then in its description; verbs that only read or compute are left out."""
    data = _load_words()
    begins = _read_from_verb(tool.description)[:1]
    looks = any(stem in data.read or stem == "return" for word in begins for stem in _stems(word))
    words = word_segments(tool.name[:_LONGEST_NAME])
    found = False
    for index, word in enumerate(words if data.about.isdisjoint(words[1:]) else ()):
        force = data.force(word)
        previous = words[index - 1] if index else ""
        following = words[index + 1] if index + 1 < len(words) else ""
        # Some words of a name are things and not actions, as `order` in `order_history`.
        is_thing = previous in data.heads or (
            word in data.noun and (following in data.tails or (index > 0 and word in data.noun_unless_first))
        )
        if force is None or is_thing:
            continue
        # The first verb counts, and those that follow "and" or "or".
        if found and previous not in data.joins and not (previous == "read" and word == "write"):
            continue
        found = True
        # `type` that "returns the type of a value" is a noun.
        is_noun = looks and force == "mild" and word in data.noun
        if force != "read" and not is_noun:
            yield ToolAction(word, force, f"its name says '{word}'")
    yield from _find_in_description(tool.description)


def changing_words(words: Sequence[str], *, nouns: bool) -> Iterator[str]:
    """The words of a name that say a change, wherever they are; with `nouns` also those that are nouns as often.

    >>> list(changing_words(("find", "replace", "formatted"), nouns=False))
    ['replace']
    >>> list(changing_words(("list", "import", "jobs"), nouns=False))
    []
    """
    data = _load_words()
    for index, word in enumerate(words if data.about.isdisjoint(words[1:]) else ()):
        is_thing = bool(
            {*words[max(0, index - 1) : index]} & data.heads or {*words[index + 1 : index + 2]} & data.tails
        )
        # "get_install_command" shows one.
        is_thing |= index > 0 and words[-1] in _SHOWN
        if data.force(word) in {"mild", "strong"} and not is_thing and (nouns or word not in data.noun):
            yield word


def told_changes(description: str, altering: AbstractSet[str]) -> Iterator[str]:
    """The words by which a description says a change beside what it begins with, `altering` among them.

    "Find the text and replace it", "Gets the next job, removing it", "Returns the message. Marks it as read."
    """
    data = _load_words()
    for number, sentence in enumerate(_SENTENCE.split(description[:_LONGEST_DESCRIPTION].strip())):
        words = _WORD.findall(sentence)
        for index, word in enumerate(words):
            before = words[index - 1].lower() if index else ""
            after = words[index + 1].lower() if index + 1 < len(words) else ""
            if number and (index > 1 or not word.endswith("s") or before not in {"", "also", "it", "then", "this"}):
                continue
            joined = before in {"and", "or", "then"} or (before in {"by", "while", ","} and word.endswith("ing"))
            if not number and not joined and index:
                continue
            stems = _stems(word)
            # `find_actions` has weighed a strong verb at the beginning: "Execute a SELECT query".
            forces = {"mild"} if not number and not index else {"mild", "strong"}
            verbs = {stem for stem in stems - _VAGUE if data.force(stem) in forces}
            # Without an object, only what is a verb in any reading and is not said of the tool: "This applies to all".
            is_verb = bool(verbs - data.noun) or (word.lower() in altering and (joined or not (number or index)))
            is_said = is_verb and not (number and index) and after not in data.tails
            if is_said or (after in _DETERMINERS and (verbs or not altering.isdisjoint(stems))):
                yield word


def opening_verb(sentence: str) -> tuple[frozenset[str], tuple[str, ...]]:
    """The base forms that the first word of a description may have, and the words after it.

    >>> opening_verb("Base64-encode a string") == (frozenset({"encode"}), ("a", "string"))
    True
    """
    verb, *rest = _read_from_verb(sentence) or ("",)
    return _stems(verb.rpartition("-")[2]), tuple(rest)


def says_harmless(sentence: str) -> bool:
    """Whether a sentence says that what is run or executed only reads: "Run a similarity search"."""
    return _load_words().harmless.search(sentence) is not None


def _find_in_description(description: str) -> Iterator[ToolAction]:
    sentence = re.split(r"[.!?](?:\s|$)|\n\s*\n", description[:_LONGEST_DESCRIPTION].strip(), maxsplit=1)[0]
    data = _load_words()
    for pattern in data.dangerous:
        match = pattern.search(sentence)
        if match:
            yield ToolAction("execute", "strong", f"its description says '{match[0].strip()}'")
            return
    if data.harmless.search(sentence):
        return
    words = _read_from_verb(sentence)
    for index, word in enumerate(words[:_LOOK_AHEAD]):
        if index and words[index - 1].lower() not in {"and", "or", "then"}:
            continue
        following = words[index + 1].lower() if index + 1 < len(words) else ""
        for stem in _stems(word):
            force = data.force(stem)
            # "Fetches posts and comments": a verb has an object, and these words are nouns as often.
            noun = stem in data.noun and (
                following in data.tails or (index > 0 and following in {"", ",", *data.heads})
            )
            if force in {"mild", "strong"} and not noun:
                place = "begins with" if index == 0 else "says"
                yield ToolAction(stem, force, f"its description {place} '{word}'")


def _read_from_verb(sentence: str) -> tuple[str, ...]:
    """The words from the verb on: "This tool permanently deletes a file" begins with `deletes`."""
    text = sentence[:_LONGEST_DESCRIPTION].strip()
    lead = _load_words().lead_ins.match(text)
    rest = text[lead.end() :] if lead else text
    words = tuple(_WORD.findall(rest[:_LONGEST_BEGINNING]))
    return words or tuple(_WORD.findall(text[:_LONGEST_BEGINNING]))


def _stems(word: str) -> frozenset[str]:
    """The base forms that an English verb form may have: `Deletes`, `pushes`, `Applies`, `Executing`."""
    word = word.lower()
    found = {word}
    if word.endswith("ies"):
        found.add(word[:-3] + "y")
    if word.endswith("es"):
        found.add(word[:-2])
    if word.endswith("s"):
        found.add(word[:-1])
    if word.endswith("ing"):
        found |= {word[:-3], word[:-3] + "e"}
    return frozenset(found)


class _WordSets(msgspec.Struct, frozen=True):
    read: frozenset[str]
    strong: frozenset[str]
    changes: frozenset[str]
    destroys: frozenset[str]
    mild: frozenset[str]
    noun: frozenset[str]
    noun_unless_first: frozenset[str]
    tails: frozenset[str]
    heads: frozenset[str]
    about: frozenset[str]
    joins: frozenset[str] = msgspec.field(name="and")


class _Source(_WordSets, frozen=True, forbid_unknown_fields=True):
    """`destructive.toml` as it is written."""

    lead_ins: str
    harmless: str
    dangerous: tuple[str, ...]
    hits: tuple[str, ...]
    misses: tuple[str, ...]


class _DestructiveWords(_WordSets, frozen=True):
    """The same, ready for use."""

    lead_ins: re.Pattern[str]
    harmless: re.Pattern[str]
    dangerous: tuple[re.Pattern[str], ...]

    def force(self, word: str) -> Force | None:
        if word in self.strong:
            return "strong"
        if word in self.mild:
            return "mild"
        return "read" if word in self.read else None


@cache
def read_destructive_source() -> _Source:
    """The words as they are written in the file, with hits and misses."""
    return read_toml("toolvet.core.tool_rules", "destructive.toml", _Source)


@cache
def _load_words() -> _DestructiveWords:
    source = read_destructive_source()
    return _DestructiveWords(
        **{name: getattr(source, name) for name in _WordSets.__struct_fields__},
        lead_ins=re.compile(source.lead_ins),
        harmless=re.compile(source.harmless),
        dangerous=tuple(map(re.compile, source.dangerous)),
    )
