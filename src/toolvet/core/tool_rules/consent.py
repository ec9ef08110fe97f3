"""Decides which tools an assessment calls without being asked, and why it skips each other tool.

A tool is called if it has `readOnlyHint: true` and nothing contradicts that. If the server annotates none of its tools,
a tool is called if its name, description and parameters plainly show that it only reads. All other tools are skipped: a
missed call is cheap, a deleted file is not.

    habits = habits_of(tools)                       # the common traits of the server's tools
    why_not_called(get_orders, habits)              # None: it may be called
    why_not_called(cleanup_resources, habits)       # "its name opens with 'cleanup', which is not known as a verb …"

The words are data (`consent.toml`), with their proof beside them.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set as AbstractSet
from fnmatch import fnmatchcase
from functools import cache
from itertools import chain, pairwise, takewhile

import msgspec

from toolvet.core.discover.toml import read_toml
from toolvet.core.json_value import elements, is_object, members
from toolvet.core.redact import word_segments
from toolvet.core.tool_rules.destructive import changing_words, find_actions, opening_verb, says_harmless, told_changes
from toolvet.core.tool_rules.subject import ToolDefinition

_HINTS = ("readOnlyHint", "destructiveHint")
_FEWEST_OF_A_PREFIX = 3
# Not sets: a server may send a list, which has no hash.
_SCALARS = ("string", "number", "integer", "boolean")
_LONGEST_DESCRIPTION = 2_000
_SENTENCE_END = re.compile(r"[.!?](?:\s|$)|\n\s*\n")
_WORD = re.compile(r"[A-Za-z]+")
_LABEL = re.compile(r"^[\w /-]{1,40}:\s+")
# Words after the objects of a verb, and words by which a sentence says for whom or for what a thing is made.
_BEHIND_OBJECTS = frozenset(
    {"against", "based", "between", "by", "for", "from", "in", "into", "of", "on", "that", "to", "using", "with"}
)
_MADE_FOR = re.compile(r"(?i)\b(?:build|generate)s?\b.*\b(?:for|of) (?:all|an?|each|every|the|this|your)\b")
_GENERATES = re.compile(r"(?i)\b(?:build|generate|make|random|roll)")
_OF_ALL = re.compile(r"(?i)\bof (?:all|each|every|the|your)\b")
_MAKES = frozenset({"compose", "create", "make", "produce"})
_MAY_RUN = frozenset({"build", "match", "print", "simulate", "split", "test"})
_LONGEST_OBJECT = 12
_FRAME = re.compile(r"^(?:(?:brief |short )?description|summary|purpose)\s*:\s*", re.IGNORECASE)


class Habits(msgspec.Struct, frozen=True):
    """The common traits of the tools of one server.

    `annotates` is true when any of them has a readOnlyHint or destructiveHint; `prefixes` are the words that at least
    three names open with (`git_status`, `git_log`, `pantry_list`), which say nothing about a single tool.
    """

    annotates: bool = False
    prefixes: frozenset[tuple[str, ...]] = frozenset()


def habits_of(tools: Sequence[ToolDefinition]) -> Habits:
    """Read the habits of a server from all its tools."""
    annotates = any(isinstance(tool.annotations.get(hint), bool) for tool in tools for hint in _HINTS)
    table, found = _words(), Counter[tuple[str, ...]]()
    doing = table.reading | table.altering | table.deriving
    for tool in tools:
        words = word_segments(tool.name)[:4]
        # A verb that tools share is not a prefix: `purge_list`, `purge_status`.
        verbs = {word for word in words if word in doing or any(changing_words((word,), nouns=True))}
        first = next((place for place, word in enumerate(words) if word in verbs), len(words))
        found.update(words[:end] for end in range(1, first + 1))
    return Habits(annotates, frozenset(prefix for prefix, times in found.items() if times >= _FEWEST_OF_A_PREFIX))


def why_not_called(tool: ToolDefinition, habits: Habits) -> str | None:
    """Return why this tool is not called without the user's consent, quoting what says so; None when it may be called.

    Args:
        tool: The definition as the server sent it.
        habits: What `habits_of` read from the whole list.
    """
    read_only, destructive = tool.annotations.get("readOnlyHint"), tool.annotations.get("destructiveHint")
    if destructive is True and read_only is not True:
        return "its annotations say destructiveHint: true"
    if read_only is False:
        return "its annotations say readOnlyHint: false"
    if read_only is True:
        # An action that cannot be read-only, or a parameter that has it write.
        changes = (action.reason for action in find_actions(tool) if action.changes)
        reason = next(chain(changes, _removals(tool, trusted=True), _betrayals(tool, trusted=True)), None)
        return f"it says readOnlyHint: true, but {reason}" if reason else None
    if habits.annotates:
        return "it has no readOnlyHint, and other tools of this server have annotations"
    return next(_doubts(tool, habits), None)


def writing_parameters(tool: ToolDefinition) -> tuple[str, ...]:
    """Return the names of the optional parameters that name a place to write: they are never filled in unasked."""
    required = frozenset(tool.required)
    table = _words().parameter
    return tuple(
        name
        for name in tool.properties
        if name not in required and _matches(name, table.writes + table.writes_optional)
    )


def _doubts(tool: ToolDefinition, habits: Habits) -> Iterator[str]:
    words, table = _own_words(tool, habits), _words()
    if not words:
        yield "its name has no words"
        return
    verb, *rest = words
    if verb in table.adjectives and rest and rest[0] in table.reading:
        verb, *rest = rest
    words = (verb, *rest)
    if verb not in table.reading:
        # `add(a, b)`, `multiply_two_numbers(x, y)`, or what the description calculates: every parameter is a number.
        stems, _ = opening_verb(_FRAME.sub("", _first_sentence(tool)))
        is_arithmetic = bool(tool.properties) and (
            (verb in table.arithmetic and set(rest) <= table.operands)
            or (not stems.isdisjoint({"calculate", "compute"}) and not any(changing_words(words, nouns=True)))
        )
        if is_arithmetic and all(
            tool.single(each).get("type") in ("number", "integer") for each in tool.properties.values()
        ):
            return

        if _disclaims(tool):
            yield from (f"its name says '{word}'" for word in changing_words(words, nouns=True))
            yield from _ways_out(tool, words, frozenset(tool.required))
        elif _reads_without_verb(tool, words) or _advises(tool):
            yield from (action.reason for action in find_actions(tool) if action.force != "read")
            yield from _ways_out(tool, words, frozenset(tool.properties))
        else:
            yield f"its name opens with '{verb}', which is not known as a verb that only reads"
            return
    yield from (f"its name says '{word}'" for word in _turned(tool, words))
    for action in find_actions(tool):
        # "Execute a SELECT query": the sentence that calls itself a query has said what it does.
        if action.force == "strong" or action.reason.startswith("its name"):
            yield action.reason
    yield from _removals(tool, trusted=False)
    yield from _betrayals(tool, trusted=False)
    if moved := re.search(table.moves, _first_sentence(tool)):
        yield f"its description says '{moved[0]}'"
    files = (name for name in tool.required if _matches(name, table.parameter.places))
    if verb in table.transforming and (name := next(files, None)):
        yield f"its parameter '{name}' names a file, beside which it may write another"
    if verb in table.making and not _takes_matter(tool):
        for name in writing_parameters(tool):
            yield f"its parameter '{name}' names a place to write"
    # "Make a token contract … Does not write to disk.": the first sentence is explained by a later one.
    told = f". {tool.description}" if _disclaims(tool) else _plain(tool.description)
    yield from (f"its description says '{word}'" for word in told_changes(told, table.altering))


def _turned(tool: ToolDefinition, words: tuple[str, ...]) -> Iterator[str]:
    """The words of a name that turn its reading verb around: `check_in`, `search_and_index`, `fetch_to_disk`."""
    table, sentence = _words(), _FRAME.sub("", _first_sentence(tool))
    yield from changing_words(words, nouns=False)
    second = "".join(words[1:2])
    if second in table.turns.get(words[0], ()) or (second == "to" and words[0] not in table.transforming):
        yield " ".join(words[:3] if second == "to" else words[:2])
    things = {*_things_told(sentence)} | table.things | table.data
    for before, word in pairwise(words):
        if before in {"and", "or", "then"} and word not in table.reading | things and not word.endswith("s"):
            yield word
    # "info_push", "help_desk_new": the verb is the last word, unless the sentence speaks of it as a thing.
    last = words[-1]
    changes = last in table.altering or bool({*changing_words((last,), nouns=True)})
    if sentence and len(words) > 1 and changes and last not in things and words[0] not in table.verbs_only:
        yield last


def only_computes(tool: ToolDefinition, habits: Habits) -> bool:
    """Whether a tool that the user included makes its answer of its arguments, and so can harm nothing with any value.

    `parse_cidr(cidr)` and `generate_uuid()` do. The name must show it, and nothing may contradict it.
    """
    words, table = _own_words(tool, habits), _words()
    verbs = (table.deriving - _MAY_RUN) | table.computing | (table.reading - table.making) | table.transforming
    things = {word.removesuffix("s") for word in words} - verbs
    if verbs.isdisjoint((*words[:1], *words[-1:])) or tool.annotations.get("destructiveHint") is True:
        return False
    if things and things.isdisjoint(table.ephemeral):
        return False  # `format_partition(partition)`
    against = chain(
        changing_words(words, nouns=True),
        table.altering.intersection(words),
        (action.word for action in find_actions(tool) if action.force == "strong" or action.word != "make"),
        told_changes(_plain(tool.description), table.altering),
        _removals(tool, trusted=False),
        _betrayals(tool, trusted=False),
        _ways_out(tool, words, frozenset(tool.properties)),
        (name for name, _ in tool.parameters() if _matches(name, table.parameter.kept)),
    )
    return next(against, None) is None


def _own_words(tool: ToolDefinition, habits: Habits) -> tuple[str, ...]:
    words = word_segments(tool.name)
    stems, _ = opening_verb(_FRAME.sub("", _first_sentence(tool)))
    if words[:1] and words[0] in stems:
        return words  # `plot_search`, "Plot the results of a search": a verb.
    ends = range(min(len(words) - 1, 4), 0, -1)
    return words[next((end for end in ends if words[:end] in habits.prefixes), 0) :]


def _plain(description: str) -> str:
    return _FRAME.sub("", description[:_LONGEST_DESCRIPTION].strip())


def _disclaims(tool: ToolDefinition) -> bool:
    """Whether a description says that its tool changes nothing, and names what it returns instead."""
    text = tool.description[:_LONGEST_DESCRIPTION]
    makes = not opening_verb(_FRAME.sub("", _first_sentence(tool)))[0].isdisjoint(_words().deriving | _MAKES)
    return makes and bool(re.search(_words().disclaimers, text)) and "returns" in text.lower()


def _advises(tool: ToolDefinition) -> bool:
    """Whether the description says that the tool gives advice, and no more: "Get debugging guidance for an issue"."""
    stems, after = opening_verb(_FRAME.sub("", _first_sentence(tool)))
    objects = {word.lower() for word in takewhile(lambda word: word.lower() not in _BEHIND_OBJECTS, after)}
    return not stems.isdisjoint(_words().openers) and not objects.isdisjoint(_words().advice)


def _reads_without_verb(tool: ToolDefinition, words: Sequence[str]) -> bool:
    """Whether a name that opens with no verb that reads is plainly one of a reader, together with the description.

    all_table_names         from a thing to a thing, and the description begins "Return all table names"
    geometry_calculator     something that computes
    url_parse, char_info    things, or things and a verb that reads; "Parse a URL", "Get information about a character"
    uuid_generate           "Generate one or more UUIDs", which come back in the answer
    advanced_cleanup        no: nothing says that its last word is a thing
    """
    table = _words()
    first, last = words[0], words[-1]
    if last in table.computing:
        return True
    sentence = _FRAME.sub("", _first_sentence(tool))
    stems, after = opening_verb(sentence)
    if stems.isdisjoint(table.openers | table.reading | table.deriving):
        # "Semantic versioning: compare, validate, …"
        stems, after = opening_verb(_LABEL.sub("", sentence))
    plural = last.endswith("s") and not last.endswith(("ss", "us", "is"))
    is_thing = first in table.things and (len(words) == 1 or plural or last in table.things or last in table.data)
    if is_thing and not stems.isdisjoint(table.openers):
        return True
    verbs = table.reading | table.deriving
    # "Element icon search" only repeats the name.
    is_title = last in table.reading and after[-1:] != () and after[-1].lower() == last
    if not is_title and stems.isdisjoint(table.openers - table.answers | verbs) and not says_harmless(sentence):
        return False
    things = {
        word
        for name, declared in tool.properties.items()
        if members(declared).get("type") != "boolean"
        for word in word_segments(name)
    }
    things.update(map(str.lower, _WORD.findall(sentence)) if is_title else _things_told(sentence))
    known = things | table.things | table.data | table.adjectives | table.operands | table.joining | table.ephemeral
    # `symbol_info`, "Get the properties of a character": both read, and so what is between them need not be known.
    agrees = last in table.reading and not stems.isdisjoint(table.reading)
    for place, word in enumerate(words):
        is_verb = place in {0, len(words) - 1} and word in verbs
        is_known = word.isdecimal() or word in known or word.removesuffix("s") in known
        if not (agrees or is_verb or is_known or len(word) == 1):
            return False
        following = next(iter(words[place + 1 :]), "")
        if word in table.altering and following not in table.things | table.data:
            return False
    derives = not stems.isdisjoint(table.deriving) and last not in table.reading
    if first in table.deriving or derives or (last in table.deriving and stems.isdisjoint(table.reading)):
        return _is_ephemeral(tool, sentence, after)
    return True


def _things_told(sentence: str) -> Iterator[str]:
    """Yield the words of a sentence that are not verbs: all but the first one and those after "and", "or", "to"."""
    words = _WORD.findall(sentence)
    for before, word in pairwise(words):
        if before.lower() not in {"and", "or", "then", "to"}:
            yield word.lower()
            yield word.lower().removesuffix("s")


def _is_ephemeral(tool: ToolDefinition, sentence: str, after: Sequence[str]) -> bool:
    """Whether what is made comes back in the answer: "Generate a random number", not "Format a range of text"."""
    table = _words()
    objects = list(takewhile(lambda word: word.lower() not in _BEHIND_OBJECTS, after[:_LONGEST_OBJECT]))
    thing = "".join(objects[-1:]).lower().rpartition("-")[2]
    if table.ephemeral.isdisjoint({thing, thing.removesuffix("s")}) or _MADE_FOR.search(sentence):
        return False
    makes = _GENERATES.search(sentence) is not None
    if not (makes or tool.properties) or (not makes and _OF_ALL.search(sentence)):
        return False  # "Normalize the phone numbers of all contacts"
    return not any(_matches(name, table.parameter.kept) for name, _ in tool.parameters())


def _ways_out(tool: ToolDefinition, words: Sequence[str], judged: AbstractSet[str]) -> Iterator[str]:
    """What counts against a tool that has no verb: parameters (`judged`) that lead out of the call.

    A tool that looks (`find`, `inspect`) may be given a place, and `url_parse` its URL.
    """
    table = _words()
    stems, _ = opening_verb(_FRAME.sub("", _first_sentence(tool)))
    looks = not stems.isdisjoint(table.openers - table.answers | table.reading - table.making)
    spoken = {*words, *map(str.lower, _WORD.findall(_first_sentence(tool)))}
    may_look = looks and spoken.isdisjoint(table.parameter.products)
    for name, declared in tool.parameters():
        outer = name.partition(".")[0]
        own = name.rpartition(".")[2]
        if outer not in judged:
            continue
        one = tool.single(declared)
        is_choice = "enum" in one or "const" in one
        writes = _matches(own, table.parameter.writes + table.parameter.writes_optional)
        is_named = own.lower() in words or own.lower().removesuffix("s") in words
        may_be = is_choice or is_named or (may_look and not writes and _matches(own, table.parameter.places))
        if writes or (_matches(own, table.parameter.leading_out) and not may_be):
            yield f"its parameter '{name}' leads to a file, a program or a machine"
            continue
        branches = [tool.opened(each) for each in elements(one.get("anyOf"))] or [one]
        if not is_choice and not all(each.get("type") in _SCALARS or each.get("properties") for each in branches):
            yield f"its parameter '{name}' may hold anything"


def _takes_matter(tool: ToolDefinition) -> bool:
    """Whether what a tool works on may be given in the call itself, and what it makes comes back in the answer."""
    table = _words().parameter
    required = frozenset(tool.required)
    spoken = {*word_segments(tool.name), *map(str.lower, _WORD.findall(_first_sentence(tool)))}
    takes = any(_matches(name, table.matter) for name in tool.properties) and spoken.isdisjoint(_words().files)
    return takes and not any(name in required and _matches(name, table.leading_out) for name in tool.properties)


def _first_sentence(tool: ToolDefinition) -> str:
    return _SENTENCE_END.split(tool.description[:_LONGEST_DESCRIPTION].strip(), maxsplit=1)[0]


def _removals(tool: ToolDefinition, *, trusted: bool) -> Iterator[str]:
    """Words of removing and sending; of a `trusted` tool, forms in -s: "the price to send a book" does nothing."""
    own = members(tool.raw).get("title") if is_object(tool.raw) else None
    title = own if isinstance(own, str) else tool.annotations.get("title")
    title = title if isinstance(title, str) else ""
    for place, text in (("description", _first_sentence(tool)), ("title", title[:_LONGEST_DESCRIPTION])):
        for word in _WORD.findall(text):
            if word.lower() in _words().removing and (word.endswith("s") or not trusted):
                yield f"its {place} says '{word}'"


def _betrayals(tool: ToolDefinition, *, trusted: bool) -> Iterator[str]:
    """Parameters that write, run or remove; a `trusted` tool may take a query in SQL, and a switch may be off."""
    table = _words().parameter
    required = frozenset(tool.required)
    runs_nothing = bool(re.search(_words().without_running, _first_sentence(tool)))
    for name, schema in tool.parameters():
        own = name.rpartition(".")[2]
        words = word_segments(own)
        # The members of a structure count as required, whatever it requires.
        if ("." in name or name in required) and _matches(own, table.writes):
            yield f"its parameter '{name}' names a place to write"
        runs = _matches(own, table.runs) or (own == "code" and "evaluate" in word_segments(tool.name))
        if not trusted and runs and not runs_nothing:
            yield f"its parameter '{name}' carries a program to run"
        if words and words[-1] in table.modes:
            for value in (*elements(schema.get("enum")), schema.get("const"), schema.get("default")):
                if isinstance(value, str) and not _words().removing.isdisjoint(word_segments(value)):
                    yield f"its parameter '{name}' may be '{value}'"
                    break
        if not trusted and _records(tool, own, schema):
            yield f"its parameter '{name}' is something to be recorded"
        if not trusted and own == name and words and words[0] in table.switches and schema.get("type") == "boolean":
            yield f"its parameter '{name}' has it change something"


def _records(tool: ToolDefinition, name: str, schema: Mapping[str, object]) -> bool:
    """Whether the tool records a parameter as a judgement, such as the `score` of `verify_task(id, score)`.

    A `status` counts only if it is required, beside another required parameter.
    """
    table = _words()
    if table.checking.isdisjoint(word_segments(tool.name)[:2]) or tool.single(schema).get("type") == "boolean":
        return False
    required = tool.required
    return _matches(name, table.parameter.judgements) or (
        name in required and len(required) > 1 and _matches(name, table.parameter.judgements_required)
    )


def _matches(name: str, patterns: Sequence[str]) -> bool:
    words = " ".join(word_segments(name))
    return any(words == pattern or ("*" in pattern and fnmatchcase(words, pattern)) for pattern in patterns)


class ParameterWords(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The `[parameter]` table of `consent.toml`."""

    writes: tuple[str, ...]
    writes_optional: tuple[str, ...]
    runs: tuple[str, ...]
    leading_out: tuple[str, ...]
    places: tuple[str, ...]
    products: frozenset[str]
    kept: tuple[str, ...]
    matter: tuple[str, ...]
    modes: frozenset[str]
    switches: frozenset[str]
    judgements: tuple[str, ...]
    judgements_required: tuple[str, ...]


class ConsentProof(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The `[proof]` table: tools that are skipped, and near misses that are called."""

    hits: tuple[str, ...]
    misses: tuple[str, ...]


class ConsentWords(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`consent.toml` as written."""

    reading: frozenset[str]
    making: frozenset[str]
    transforming: frozenset[str]
    verbs_only: frozenset[str]
    checking: frozenset[str]
    deriving: frozenset[str]
    ephemeral: frozenset[str]
    altering: frozenset[str]
    disclaimers: str
    without_running: str
    moves: str
    removing: frozenset[str]
    turns: dict[str, frozenset[str]]
    adjectives: frozenset[str]
    things: frozenset[str]
    data: frozenset[str]
    answers: frozenset[str]
    advice: frozenset[str]
    joining: frozenset[str]
    openers: frozenset[str]
    computing: frozenset[str]
    arithmetic: frozenset[str]
    operands: frozenset[str]
    files: frozenset[str]
    parameter: ParameterWords
    proof: ConsentProof


@cache
def _words() -> ConsentWords:
    return read_toml("toolvet.core.tool_rules", "consent.toml", ConsentWords)
