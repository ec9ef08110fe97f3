"""Many phrases in one pass: the answer, the same answer from the slow twin, and what is refused."""
# ruff: noqa: RUF001 - Look-alikes are the subject.

import os
import re
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NoReturn
from zlib import crc32

import msgspec
import pytest
from hypothesis import given, strategies as st
from tests.examples import examples

from toolvet.core.discover import cache
from toolvet.core.matching import (
    Hit,
    Pattern,
    PatternSet,
    UnsafePattern,
    dialect,
    engine_hyperscan,
    index as pattern_sets,
    literal,
    machine,
)
from toolvet.core.matching.dialect import translate
from toolvet.core.matching.engine_hyperscan import HyperscanEngine
from toolvet.core.matching.engine_re import ReEngine
from toolvet.core.matching.pattern import Finder, finder

# One of each construct that the dialect knows.
EXPRESSIONS = [
    r"\bnot found\b",
    r"\b(?:doesn't|does not) exist\b",
    r"no such \w+",
    r"^error:",
    r"(?:a|an) [aeiou]\w*",
    r"x{2,3}y?",
    r"\d+ items?\b",
    r"[^\s\"]+@[\w.-]+",
    r"caf\u00e9",
    r"A\Sz",
    r"(?P<name>foo)-bar",
    r"(?-i:CASE)",
    r"end$",
    r".b.",
    r"\"quoted\"",
    r"[a-c]+[x\-z]",
    r"na(?:na)+",
    r"q.*?q",
]
TEXTS = [
    "User not found, and the page doesn’t exist",
    "the page does\u00a0not\u3000exist",
    "ｎｏｔ ｆｏｕｎｄ",
    "用户not found。",
    "ERROR: no such table; no such_column",
    "an apple, a eagle, 1 item, 20 items, xxxxy xx",
    "me@example.com and “quoted” words, Café CAFÉ cafe",
    "aéz a z A-z foo\u2011bar Foo-Bar case CASE",
    "the end\n",
    "the end",
    "abx cc-z nanana qaqbq q\nq",
    "lone \ud800 surrogate not found",
    "ſ \u212a k s",
    "",
]


def slow_twin(patterns: list[Pattern]) -> PatternSet:
    """The same set on the engine that serves without Hyperscan."""
    twin = PatternSet(patterns)
    assert isinstance(twin._engine, HyperscanEngine)
    twin._engine = ReEngine([translate(each.regex, each.flags, spans=each.spans) for each in patterns])
    return twin


PATTERNS = [Pattern(str(number), regex) for number, regex in enumerate(EXPRESSIONS)]
FAST = PatternSet(PATTERNS)
SLOW = slow_twin(PATTERNS)


@pytest.mark.parametrize("text", TEXTS)
def test_both_engines_give_the_same_hits(text: str) -> None:
    assert FAST.scan(text) == SLOW.scan(text)


def test_the_texts_above_hit_every_construct() -> None:
    found = {hit.id for text in TEXTS for hit in FAST.scan(text)}
    assert found == {pattern.id for pattern in PATTERNS}


@examples(200)
@given(
    st.lists(
        st.sampled_from(
            [*"aeioxyzq'-\" \n", "not found", "no such ", "é", "’", "\u00a0", "error:", "7", "ｎ", "\ud800", "na"]
        ),
        max_size=20,
    )
)
def test_both_engines_agree_on_any_mixture(parts: list[str]) -> None:
    text = "".join(parts)
    assert FAST.scan(text) == SLOW.scan(text)


def test_a_hit_tells_the_characters_of_the_original_text() -> None:
    text = "é ‘hello’ — the page doesn’t exist ｎｏｗ"
    [hit] = PatternSet([Pattern("gone", r"\bdoesn't exist now\b")]).scan(text)
    assert text[hit.start : hit.end] == "doesn’t exist ｎｏｗ"


@pytest.mark.parametrize("character", list("’‘ʼ"))
def test_a_curly_apostrophe_is_an_apostrophe(character: str) -> None:
    assert PatternSet([literal("x", "can't")]).scan(f"I can{character}t")


@pytest.mark.parametrize("character", list("\u00a0\u2009\u202f\u3000"))
def test_a_space_of_any_kind_is_a_space(character: str) -> None:
    assert PatternSet([literal("x", "not found")]).scan(f"not{character}found")


def test_hits_of_one_pattern_do_not_overlap_and_are_greedy() -> None:
    assert PatternSet([Pattern("x", r"a+b?")]).scan("aaab aa") == [Hit("x", 0, 4), Hit("x", 5, 7)]


def test_hits_of_different_patterns_may_overlap() -> None:
    patterns = [literal("short", "found"), literal("long", "not found")]
    assert PatternSet(patterns).scan("not found") == [Hit("long", 0, 9), Hit("short", 4, 9)]


def test_a_pattern_without_spans_is_found_once_where_its_first_match_ends() -> None:
    patterns = [Pattern("x", r"\berror\b", spans=False)]
    assert PatternSet(patterns).scan("an error, another error") == [Hit("x", 8, 8)]
    assert slow_twin(patterns).scan("an error, another error") == [Hit("x", 8, 8)]


def test_no_more_hits_of_each_pattern_are_looked_for_than_are_asked() -> None:
    patterns = [Pattern("a", "aa?b"), Pattern("x", "x"), Pattern("gap", r"a[^.]{0,3}x")]
    for found in (PatternSet(patterns), slow_twin(patterns)):
        every = found.scan("ab x aab x ab. a x")
        firsts = {next(hit for hit in every if hit.id == each.id) for each in patterns}
        assert set(found.scan("ab x aab x ab. a x", 1)) == firsts
        assert found.scan("ab x aab x ab. a x", 100) == every


# Places that may end a match, closer to each other than a match is long: one search goes through all of them.
RUNS = [
    (r"\bnot (?:\w+ ){0,3}found\b", "not found ", 5),
    (r"\bnot (?:\w+ ){0,3}missing\b", "not missing not really missing ", 10),
    (r"\bever (?:\w+ ){0,2}lost\b", "lost lost ", 0),
    (r"\bever\b[^.]{0,40}\blost\b", "ever lost. lost ", 10),
]


@pytest.mark.parametrize(("regex", "unit", "hits"), RUNS)
def test_ends_that_follow_each_other_closely_give_the_same_hits(regex: str, unit: str, hits: int) -> None:
    found = PatternSet([Pattern("x", regex)]).scan(unit * 10)
    assert len(found) == hits
    assert found == slow_twin([Pattern("x", regex)]).scan(unit * 10)


OPENINGS = [
    (r"\bI (?:do not|don't) (?:\w+ ?){0,9}know\b", True),
    (r"(?:a|b)+c", True),
    (r"(?:x?){9}(?:a+)+z", False),
]


@pytest.mark.parametrize(("regex", "opening"), OPENINGS)
def test_a_machine_knows_what_its_matches_begin_with(regex: str, *, opening: bool) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(dialect, "_MOST_WAYS", 0)
        translated = translate(regex, re.IGNORECASE, spans=True)
    assert bool(translated.opening) is opening
    texts = ["I do not really know", "I don't know", "We do not know", "abac", "xxaaz", ""]
    plain = finder(msgspec.structs.replace(translated, opening="", reach=0))
    for text in texts:
        assert finder(translated).search(text, 0, len(text)) == plain.search(text, 0, len(text))


def test_a_phrase_that_need_not_be_placed_is_looked_for_whole() -> None:
    regex = r"\b(?:status|code)[ :=(]{1,3}[45][0-9]{2}\b"
    placed, whole = (translate(regex, re.IGNORECASE, spans=spans) for spans in (True, False))
    assert r"\x34" not in placed.hyperscan
    assert r"\x34" in whole.hyperscan
    # Where it ends, `re` says: a match of Hyperscan may be a shorter one.
    assert not whole.exact
    engine = PatternSet([Pattern("x", regex, spans=False)])._engine
    assert isinstance(engine, HyperscanEngine)
    assert engine._ends(b"the code of the status: none") == {}
    assert engine.find("the code of the status: 404.") == [(0, 27, 27)]


def test_a_literal_is_taken_by_its_letters_and_at_word_boundaries() -> None:
    phrases = PatternSet([literal("x", "C++ (new)"), literal("y", "art")])
    assert [hit.id for hit in phrases.scan("learn c++ (NEW) art")] == ["x", "y"]
    assert phrases.scan("c (new) part") == []


def test_no_patterns_hit_nothing() -> None:
    assert PatternSet([]).scan("anything") == []


REFUSED = [
    (r"(?=a)b", "look-ahead"),
    (r"a(?!b)", "look-ahead"),
    (r"(?<=a)b", "look-behind"),
    (r"(?<!a)b", "look-behind"),
    (r"(a)\1", "backreference"),
    (r"(?P<x>a)(?P=x)", "backreference"),
    (r"(?>a)", "atomic"),
    (r"(a)?(?(1)b|c)", "condition"),
    (r"a++", "possessive"),
    (r"a{1,99999}", "repeats"),
    (r"a*", "empty"),
    (r"(a|)", "empty"),
    (r"[[:alpha:]]", "POSIX"),
    (r"\Qa", "escape"),
    (r"(a", "not closed"),
    (r"a)", "not open"),
    (r"[a", "not closed"),
]


@pytest.mark.parametrize(("regex", "reason"), REFUSED)
def test_what_cannot_be_matched_in_linear_time_is_refused_by_name_where_the_set_is_built(
    regex: str, reason: str
) -> None:
    with pytest.raises(UnsafePattern, match=reason) as refused:
        PatternSet([Pattern("fine", "fine"), Pattern("bad", regex)])
    assert refused.value.pattern == regex
    with pytest.raises(UnsafePattern):
        ReEngine([translate(regex, re.IGNORECASE, spans=True)])


@pytest.mark.parametrize("flags", [re.VERBOSE, re.LOCALE])
def test_an_unknown_flag_is_refused(flags: re.RegexFlag) -> None:
    with pytest.raises(UnsafePattern, match="flags"):
        PatternSet([Pattern("x", "a", flags)])


def test_flags_mean_what_they_mean_in_re() -> None:
    assert PatternSet([Pattern("x", "a", re.NOFLAG)]).scan("A") == []
    assert PatternSet([Pattern("x", "^b", re.MULTILINE)]).scan("a\nb") == [Hit("x", 2, 3)]
    assert PatternSet([Pattern("x", "a.b", re.DOTALL)]).scan("a\nb") == [Hit("x", 0, 3)]


# What `re` could not run: (pattern, a text that would keep it busy, how many hits that text has).
HEAVY = [
    (r"(?:a+)+b", "a" * 2_000 + "c", 0),
    (r"(?:a|a)+b", "a" * 2_000 + "c", 0),
    (r"(?:a{1,3})+b", "a" * 2_000 + "c", 0),
    (r"a+a+a+a+\u00e9\b", ("a" * 250 + "\u00e9a") * 8, 0),
    (r"(?:\w+ ?){1,9}\u00e9\b", ("a" * 250 + "\u00e9a") * 8, 0),
    (r"(?:a?){30}a{30}", "a" * 2_040, 34),
    (r".{0,99}a.{0,99}a.{0,99}z\b", ("a" * 250 + "za") * 8, 0),
]


@pytest.mark.parametrize(("regex", "hostile", "hits"), HEAVY)
def test_what_takes_re_exponential_or_cubic_time_is_decided_all_the_same(regex: str, hostile: str, hits: int) -> None:
    assert translate(regex, re.IGNORECASE, spans=True).tree is not None
    pattern = Pattern("x", regex)
    assert len(PatternSet([pattern]).scan(hostile)) == hits
    assert len(slow_twin([pattern]).scan(hostile)) == hits


def finders(regex: str) -> tuple[Finder, Finder]:
    """What decides about `regex`: the machine, and `re`."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(dialect, "_MOST_WAYS", 0)
        translated = translate(regex, re.IGNORECASE, spans=True)
    return finder(translated), finder(msgspec.structs.replace(translated, tree=None))


FINDERS = [finders(regex) for regex in [*EXPRESSIONS, *(heavy[0] for heavy in HEAVY)]]


@examples(500)
@given(st.sampled_from(FINDERS), st.text("aabcxyz nofudq\u00e9\n", max_size=12))
def test_the_machine_finds_what_re_finds(pair: tuple[Finder, Finder], text: str) -> None:
    machine, by_re = pair
    assert machine.search(text, 0, len(text)) == by_re.search(text, 0, len(text))


@examples(100)
@given(st.sampled_from(range(len(FINDERS))), st.text("aabcxyz nofudq\u00e9\n", max_size=12))
def test_a_machine_that_forgets_its_steps_finds_the_same(number: int, text: str) -> None:
    remembering, _by_re = FINDERS[number]
    with pytest.MonkeyPatch.context() as patched:
        for limit in ("_MOST_KEPT", "_MOST_STEPS", "_MOST_CLASSES"):
            patched.setattr(machine, limit, 2)
        forgetful, _by_re = finders([*EXPRESSIONS, *(heavy[0] for heavy in HEAVY)][number])
        found = forgetful.search(text, 0, len(text))
    assert found == remembering.search(text, 0, len(text))


@pytest.mark.parametrize("regex", ["a+b", "(?:na)+x", " +x", "-+>", r"\w+ x", "q.*z"])
@pytest.mark.parametrize("unit", ["a", "ab", "na", " ", "-", "q"])
def test_a_long_run_kills_no_engine(regex: str, unit: str) -> None:
    text = unit * 20_000
    found = PatternSet([Pattern("x", regex)]).scan(text)
    assert len(found) == (20_000 if (regex, unit) == ("a+b", "ab") else 0)


def test_a_match_longer_than_the_window_is_found_with_its_end() -> None:
    [hit] = PatternSet([Pattern("x", r"\w+ not found")]).scan("w" * 1_000 + " not found")
    assert hit.end == 1_010


LARGE = [Pattern(str(number), f"word{number}x?\\b|слово{number}\\b") for number in range(40)] + [
    Pattern(f"ru{number}", f"\\bслово {number}\\b") for number in range(20)
]
LARGE_TEXTS = ["word7 word39x", "слово 7 и слово39"]


@pytest.fixture
def cache_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    # What cannot be kept there is kept here.
    monkeypatch.setenv("TMPDIR", str(tmp_path / "none"))
    monkeypatch.setenv("TOOLVET_PREPARE", "wait")
    return tmp_path / "toolvet"


def scans() -> list[list[Hit]]:
    found = PatternSet(LARGE)
    return [found.scan(text) for text in LARGE_TEXTS]


@pytest.mark.usefixtures("cache_folder")
def test_a_large_set_comes_back_from_the_cache_with_the_same_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    first = scans()
    assert [[hit.id for hit in hits] for hits in first] == [["7", "39"], ["ru7", "39"]]

    def compile_nothing(*_: object) -> NoReturn:
        raise AssertionError("it is in the cache")

    monkeypatch.setattr(engine_hyperscan, "_compile_patterns", compile_nothing)
    monkeypatch.setattr(pattern_sets, "_translate_all", compile_nothing)
    assert scans() == first


def test_a_family_of_scripts_is_loaded_when_a_text_first_has_one_of_its_letters(cache_folder: Path) -> None:
    found = PatternSet(LARGE)
    found.scan("word7 and caf\u00e9")
    before = len(list(cache_folder.iterdir()))
    found.scan("слово")
    assert len(list(cache_folder.iterdir())) == before + 1


def truncated(content: bytes) -> bytes:
    return content[: len(content) // 2]


def flipped(content: bytes) -> bytes:
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]


def of_another_version(_: bytes) -> bytes:
    content = b"something that another version wrote"
    return crc32(content, len(content)).to_bytes(4) + content


def emptied(_: bytes) -> bytes:
    return b""


@pytest.mark.parametrize("damage", [truncated, flipped, of_another_version, emptied])
def test_a_damaged_cache_is_rebuilt(damage: Callable[[bytes], bytes], cache_folder: Path) -> None:
    first = scans()
    kept = {path: path.read_bytes() for path in cache_folder.iterdir()}
    # The families of the patterns, their translations, two databases, and which sources there are.
    assert len(kept) == 5
    for path, content in kept.items():
        path.write_bytes(damage(content))
    assert scans() == first
    assert sorted(path.read_bytes() for path in cache_folder.iterdir()) == sorted(kept.values())


def test_a_cache_that_others_may_write_is_not_read(cache_folder: Path) -> None:
    first = scans()
    for path in cache_folder.iterdir():
        path.write_bytes(b"planted")
    cache_folder.chmod(0o777)
    assert scans() == first
    assert all(path.read_bytes() == b"planted" for path in cache_folder.iterdir())


def test_the_cache_drops_what_was_read_longest_ago(cache_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "_MOST_BYTES", 3 * (1_000 + 4))
    for number in range(4):
        cache.keep(b"%d" % number, b"x" * 1_000)
        for path in cache_folder.iterdir():
            # A day passes.
            os.utime(path, (path.stat().st_mtime - 86_400,) * 2)
    assert [cache.cached(b"%d" % number) is not None for number in range(4)] == [False, True, True, True]
    os.utime(next(cache_folder.iterdir()), (0, 0))
    cache.keep(b"4", b"x")
    assert len(list(cache_folder.iterdir())) == 3


@pytest.fixture
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """Writes the one data file of a package `owner`, long ago as far as the cache can tell."""
    (tmp_path / "owner").mkdir()
    (tmp_path / "owner" / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(cache, "_SETTLED_SECONDS", -3_600)

    def write(content: str) -> None:
        (tmp_path / "owner" / "a.toml").write_text(content)

    yield write
    sys.modules.pop("owner", None)


def test_what_is_built_from_files_is_built_once_for_the_same_content(
    cache_folder: Path, written: Callable[[str], None]
) -> None:
    built: list[object] = []

    def build(given: Iterable[tuple[str, bytes]]) -> bytes:
        built.append(tuple(given))
        return b"built"

    written("one")
    for _ in range(2):
        assert cache.compiled_from("owner", ".toml", build, "1") == b"built"
    assert built == [(("a.toml", b"one"),)]
    written("three")
    cache.compiled_from("owner", ".toml", build, "1")
    cache.compiled_from("owner", ".toml", build, "2")
    assert len(built) == 3
    for path in cache_folder.iterdir():
        path.write_bytes(b"damaged")
    for _ in range(2):
        cache.compiled_from("owner", ".toml", build, "1")
    assert len(built) == 4


@pytest.mark.usefixtures("cache_folder")
def test_a_file_with_other_times_and_the_same_content_is_not_built_anew(written: Callable[[str], None]) -> None:
    written("one")
    before = cache.fingerprint("owner", ".toml")
    written("one")
    assert cache.fingerprint("owner", ".toml") == before
    written("three")
    assert cache.fingerprint("owner", ".toml") != before


def test_files_that_were_written_just_now_are_read_again(
    cache_folder: Path, written: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache, "_SETTLED_SECONDS", 3_600)
    written("one")
    before = cache.fingerprint("owner", ".toml")
    assert not cache_folder.exists()
    written("three")
    assert cache.fingerprint("owner", ".toml") != before


def test_without_hyperscan_the_slow_twin_serves(monkeypatch: pytest.MonkeyPatch) -> None:
    # What Python does with a module that cannot be imported.
    monkeypatch.setitem(sys.modules, "toolvet.core.matching.engine_hyperscan", None)
    phrases = PatternSet(PATTERNS)
    assert isinstance(phrases._engine, ReEngine)
    assert [phrases.scan(text) for text in TEXTS] == [FAST.scan(text) for text in TEXTS]


def test_threads_scan_side_by_side() -> None:
    phrases = PatternSet(PATTERNS)
    expected = [phrases.scan(text) for text in TEXTS]
    wrong: list[str] = []

    def scan() -> None:
        rounds = ([phrases.scan(text) for text in TEXTS] for _ in range(200))
        wrong.extend(threading.current_thread().name for found in rounds if found != expected)

    threads = [threading.Thread(target=scan) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_a_part_of_a_set_shares_its_databases() -> None:
    patterns = PatternSet([literal("greeting", "good evening"), literal("farewell", "see you")])
    part = patterns.only(["farewell"])
    assert getattr(part, "_engine") is getattr(patterns, "_engine")  # noqa: B009 - it belongs to the room
    assert [hit.id for hit in part.scan("good evening, see you")] == ["farewell"]
    assert [hit.id for hit in patterns.scan("good evening, see you")] == ["greeting", "farewell"]
