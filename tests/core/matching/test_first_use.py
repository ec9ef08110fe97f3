"""The first use on a machine: what a wheel brings is used, nothing is compiled twice, and a slower engine serves."""

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import pytest

import toolvet
from toolvet.core.checks.answer.phrases import phrases as answer_phrases
from toolvet.core.checks.result.phrases import phrases as result_phrases
from toolvet.core.discover import background, cache, prepared
from toolvet.core.matching import Hit, Pattern, PatternSet, engine_hyperscan, index as pattern_sets
from toolvet.core.matching.dialect import translate
from toolvet.core.matching.engine_hyperscan import HyperscanEngine
from toolvet.core.matching.engine_re import ReEngine
from toolvet.core.matching.index import index_of
from toolvet.core.prose.frame import frame_patterns

WORDS = [Pattern(f"{number}", f"\\bword{number}\\b|слово{number}\\b") for number in range(60)]
TEXT = "Word7, WORD59 and слово8"  # noqa: RUF001 - Cyrillic
HITS = [Hit("7", 0, 5), Hit("59", 7, 13), Hit("8", 18, 24)]


@pytest.fixture
def empty_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("TMPDIR", str(tmp_path / "none"))
    monkeypatch.setenv("TOOLVET_PREPARE", "wait")
    return tmp_path / "home" / "toolvet"


@pytest.fixture
def brought(empty_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of the package that has what the words compile to; nothing may be compiled any more."""
    folder = tmp_path / "prepared"
    prepared.pack(cache.entries_of(lambda: PatternSet(WORDS).prepare()), str(folder))
    assert not empty_home.exists(), "the cache of this user was used for it"
    monkeypatch.setattr(prepared, "FOLDER", str(folder))
    monkeypatch.setattr(engine_hyperscan, "_compile_patterns", refuse)
    monkeypatch.setattr(pattern_sets, "_translate_all", refuse)
    return folder


def refuse(*_: object) -> NoReturn:
    raise AssertionError("nothing is to be compiled")


def test_what_the_package_brings_is_not_compiled(brought: Path, empty_home: Path) -> None:
    assert brought.is_dir()
    assert PatternSet(WORDS).scan(TEXT) == HITS
    # The next process need not unpack it.
    assert {path.name for path in brought.iterdir()} <= {path.name for path in empty_home.iterdir()}


@pytest.mark.usefixtures("brought")
def test_what_the_package_brings_serves_where_no_folder_can_be_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/dev/null")
    assert PatternSet(WORDS).scan(TEXT) == HITS


def test_other_patterns_find_nothing_of_it(brought: Path) -> None:
    assert brought.is_dir()
    with pytest.raises(AssertionError, match="nothing is to be compiled"):
        PatternSet([*WORDS, Pattern("more", "more")])


@pytest.mark.parametrize(
    "spoil",
    [
        lambda path: path.write_bytes(path.read_bytes()[:-20]),
        lambda path: path.write_bytes(b"no archive"),
        lambda path: path.chmod(0o666),
    ],
)
def test_what_is_damaged_or_open_to_all_is_not_loaded(
    spoil: Callable[[Path], object], brought: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()
    monkeypatch.setattr(prepared, "FOLDER", str(brought))
    name = next(path.name for path in brought.iterdir())
    assert prepared.prepared(name) is not None
    spoil(brought / name)
    assert prepared.prepared(name) is None


@pytest.mark.usefixtures("empty_home")
def test_the_slow_engine_serves_until_the_databases_are_there(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[bytes] = []

    def start(_module: str, key: bytes) -> bool:
        asked.append(key)
        return True

    monkeypatch.setattr(engine_hyperscan, "start_building", start)
    words = PatternSet(WORDS)
    assert words.scan(TEXT) == HITS
    assert not isinstance(words._engine, HyperscanEngine)
    assert isinstance(words._engine._engine, ReEngine)  # type: ignore[attr-defined]
    # The work of the other process.
    engine_hyperscan.build(asked[0])
    assert words.scan(TEXT) == HITS
    assert isinstance(words._engine._engine, HyperscanEngine)  # type: ignore[attr-defined]
    assert isinstance(PatternSet(WORDS)._engine, HyperscanEngine)


@pytest.mark.usefixtures("empty_home")
def test_another_process_builds_them(monkeypatch: pytest.MonkeyPatch) -> None:
    if os.name != "posix":
        pytest.skip("no process is started on Windows")
    monkeypatch.delenv("TOOLVET_PREPARE")
    words = PatternSet(WORDS)
    ready = words._engine._compiled.is_ready  # type: ignore[attr-defined]
    # It ends in the time that a test has, or never.
    while not ready():
        assert words.scan(TEXT) == HITS
    monkeypatch.setattr(engine_hyperscan, "_compile_patterns", refuse)
    assert PatternSet(WORDS).scan(TEXT) == HITS


@pytest.mark.parametrize(
    ("name", "value"), [("executable", "/usr/sbin/uwsgi"), ("executable", ""), ("frozen", True)], ids=str
)
def test_no_process_is_started_by_a_program_that_is_no_plain_python(
    name: str, value: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, name, value, raising=False)
    monkeypatch.setattr(os, "posix_spawn", refuse)
    monkeypatch.delenv("TOOLVET_PREPARE", raising=False)
    assert not background.start_building("toolvet.core.matching.engine_hyperscan", b"key")


ONCE = f"""
import os, sys
from toolvet.core.matching import Pattern, PatternSet, engine_hyperscan, index as pattern_sets
for module, name in ((pattern_sets, "_translate_all"), (engine_hyperscan, "_compile_patterns")):
    def told(*given, _asked=getattr(module, name), _name=name):
        with open(sys.argv[1], "a") as told:
            told.write(_name + "\\n")
        return _asked(*given)
    setattr(module, name, told)
words = [Pattern(f"{{n}}", f"\\\\bword{{n}}\\\\b|слово{{n}}\\\\b") for n in range(60)]
print([hit.id for hit in PatternSet(words).scan({TEXT!r})])
"""


def test_processes_that_start_at_once_compile_once(empty_home: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONIOENCODING": "utf-8"}
    told = tmp_path / "told"
    started = [
        subprocess.Popen([sys.executable, "-c", ONCE, str(told)], env=environment, stdout=subprocess.PIPE)
        for _ in range(8)
    ]
    assert {process.communicate()[0] for process in started} == {b"['7', '59', '8']\n"}
    assert sorted(told.read_text().split()) == ["_compile_patterns", "_translate_all"]
    assert not list(empty_home.glob("*.lock"))


def test_a_folder_for_temporary_files_serves_where_the_home_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/dev/null")
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    assert cache.keep(b"key", b"content")
    assert cache.cached(b"key") == b"content"
    [folder] = tmp_path.iterdir()
    assert folder.stat().st_mode & 0o777 == 0o700
    for mode in (0o770, 0o705):
        folder.chmod(mode)
        assert cache.cached(b"key") is None
        assert not cache.keep(b"key", b"content")
    folder.chmod(0o700)
    assert cache.cached(b"key") == b"content"
    # The author of a link is unknown.
    moved = folder.rename(tmp_path / "elsewhere")
    folder.symlink_to(moved)
    assert cache.cached(b"key") is None
    folder.unlink()
    moved.rename(folder)
    tmp_path.chmod(0o777)
    assert cache.cached(b"key") is None, "who may write there can put another folder in its place"
    tmp_path.chmod(0o1777)
    assert cache.cached(b"key") == b"content"


@pytest.mark.usefixtures("empty_home")
def test_an_entry_that_others_may_write_is_not_read(empty_home: Path) -> None:
    cache.keep(b"key", b"content")
    [entry] = empty_home.iterdir()
    entry.chmod(0o666)
    assert cache.cached(b"key") is None
    entry.chmod(0o600)
    assert cache.cached(b"key") == b"content"
    entry.rename(empty_home / "elsewhere")
    entry.symlink_to(empty_home / "elsewhere")
    assert cache.cached(b"key") is None


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give a file away")
@pytest.mark.usefixtures("empty_home")
def test_an_entry_of_another_user_is_not_read(empty_home: Path) -> None:
    cache.keep(b"key", b"content")
    [entry] = empty_home.iterdir()
    os.chown(entry, 65534, 65534)
    assert cache.cached(b"key") is None


def test_what_a_wheel_is_built_with_is_enough_to_prepare_the_phrases() -> None:
    """The packages that the build hook installs are those in pyproject.toml; nothing else may be imported."""
    ask = (
        "import sys, toolvet.core.turn.warming, toolvet.core.discover.prepared, toolvet.core.matching.dialect;"
        "import toolvet.core.matching.engine_hyperscan;"
        "import toolvet.core.matching.phrasebook;"
        "print(*{name.partition('.')[0] for name in sys.modules})"
    )
    done = subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True, check=True)
    installed = {name for name in done.stdout.split() if name not in sys.stdlib_module_names and name[0] != "_"}
    assert installed <= {"hyperscan", "msgspec", "toolvet", "typing_extensions", "sitecustomize"}


def words_of(regex: str) -> tuple[str, ...]:
    return translate(regex, re.IGNORECASE, spans=True).words


@pytest.mark.parametrize(
    ("regex", "words"),
    [
        (r"\bI (?:can't|cannot) help\b", (" help",)),
        (r"\bthank you|thanks\b", ("thank you", "thanks")),
        (r"\d+", ()),
        (r"not (?:so )?bad", ("not ",)),
        (r"(?:really )+good", ("really ",)),
        (r"(?:well|\d)", ()),
        ("straße", ("stra",)),
        ("ΛΟΓΟΣ", ("λογο",)),
        ("НЕ МОГУ", ("не могу",)),  # noqa: RUF001 - Cyrillic
        ("抱歉", ("抱歉",)),
    ],
)
def test_the_words_that_every_match_needs(regex: str, words: tuple[str, ...]) -> None:
    assert words_of(regex) == words


def own_texts() -> list[str]:
    """Hits and near misses of many languages, each a whole answer, and some of them together."""
    from toolvet.core.checks.answer.phrases import read_phrases  # noqa: PLC0415 - slow to read, and only here

    texts = [text for known in read_phrases().values() for text in (*known.phrase.hits[:1], *known.phrase.misses[:1])]
    chosen = texts[::97]
    return [*chosen, *("\n\n".join(chosen[start : start + 3]) for start in range(0, len(chosen), 9))]


def test_every_verdict_is_the_same_by_either_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = own_texts()
    tool = {"name": "any", "inputSchema": {}}

    def verdicts() -> list[tuple[object, object]]:
        return [
            (
                toolvet.check_answer(text),
                toolvet.check_result(tool, {}, {"isError": True, "content": [{"type": "text", "text": text}]}),
            )
            for text in texts
        ]

    fast = verdicts()
    for patterns in (answer_phrases().pattern_set, result_phrases().pattern_set, frame_patterns()):
        wanted = [(each.regex, int(each.flags), each.spans) for each in patterns.patterns]
        monkeypatch.setattr(patterns, "_engine", ReEngine(index_of(wanted)))
    assert verdicts() == fast
    assert sum(bool(answer.signals) for answer, _result in fast) > len(texts) / 5  # type: ignore[attr-defined]
