"""The kept inputs of the fuzzing break no promise, and its tables know every option of every public function."""

import importlib
import inspect
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from fuzz import options
from fuzz.draw import Draw
from fuzz.kept import HERE, read_corpus, target_names
from fuzz.run import keep_last
from hypothesis import given, strategies as st
from tests.examples import examples

import toolvet
from toolvet.core.turn.check import AnswerOptions

PUBLIC: list[str] = getattr(toolvet, "__all__")  # noqa: B009 - dynamic, and not in the stub
TARGETS = target_names()
SOURCES = {name: (HERE / "targets" / f"{name}.py").read_text(encoding="utf-8") for name in TARGETS}
ALL = "\n".join(SOURCES.values())
TABLES: Mapping[str, Mapping[str, object]] = {
    "check_arguments": options.ARGUMENTS,
    "check_result": options.RESULT,
    "fit_response": options.FIT,
    "success_response": options.SUCCESS,
    "error_response": options.ERROR,
}
# Those whose parameters a target draws by its own hand; the test looks for their names.
BY_HAND = ("repair", "recover", "valid_example", "vet_stream", "best_answer", "regeneration_advice", "read_wording")


def target(name: str) -> Callable[[Draw], object]:
    found: Callable[[Draw], object] = importlib.import_module(f"fuzz.targets.{name}").check
    return found


def test_the_input_at_which_a_signal_ended_the_process_is_kept(tmp_path: Path) -> None:
    (tmp_path / "last").write_bytes(b"\0\0\0\3abc and what an earlier input left")
    keep_last(tmp_path)
    # The name that libFuzzer would give it: the SHA-1 of "abc".
    assert (tmp_path / "crash-a9993e364706816aba3e25717850c26c9cd0d89d").read_bytes() == b"abc"


@pytest.mark.parametrize("name", TARGETS)
def test_the_kept_inputs_break_no_promise(name: str) -> None:
    check = target(name)
    kept = read_corpus(name)
    assert kept, "python -m fuzz.kept keeps the inputs of a run"
    for data in kept:
        check(Draw(data))


@pytest.mark.parametrize("name", TARGETS)
@examples(20)
@given(st.binary(max_size=300))
def test_any_bytes_are_an_input_that_breaks_no_promise(name: str, data: bytes) -> None:
    target(name)(Draw(data))


def test_the_corpus_is_small() -> None:
    assert sum(file.stat().st_size for file in (HERE / "corpus").iterdir()) < 1_000_000


def test_every_public_function_is_called_by_a_target() -> None:
    functions = [name for name in PUBLIC if inspect.isfunction(getattr(toolvet, name))]
    classes = ["AnswerCheck", "AnswerStream", "ArgumentCheck", "ConversationCheck", "ResultCheck", "ContentArchive"]
    builders = importlib.import_module("fuzz.targets.envelopes").BUILDERS
    drawn = ALL + inspect.getsource(Draw) + " ".join(f"{name}(" for name, _ in builders)
    assert len(functions) > 30
    for name in (*functions, *classes):
        assert re.search(rf"\b{name}\(", drawn), f"no target calls {name}"


@pytest.mark.parametrize("name", TABLES)
def test_every_option_of_a_function_is_drawn(name: str) -> None:
    parameters = inspect.signature(getattr(toolvet, name)).parameters.values()
    wanted = {each.name for each in parameters if each.default is not each.empty} - {"data"}
    assert wanted <= TABLES[name].keys() | {"data"}


def test_every_option_of_answers_and_turns_is_drawn() -> None:
    assert AnswerOptions.__annotations__.keys() == options.ANSWER.keys()
    parameters = inspect.signature(toolvet.check_answer).parameters.values()
    assert {each.name for each in parameters if each.kind is each.KEYWORD_ONLY} == options.TURN.keys()


def test_every_option_of_the_builders_of_failures_is_drawn() -> None:
    builders: Any = importlib.import_module("fuzz.targets.envelopes").BUILDERS
    assert len(builders) >= 12
    for _, builder in builders:
        parameters = inspect.signature(builder).parameters.values()
        assert {each.name for each in parameters if each.kind is each.KEYWORD_ONLY} <= options.ERROR.keys()


@pytest.mark.parametrize("name", BY_HAND)
def test_every_parameter_that_is_drawn_by_hand_is_drawn(name: str) -> None:
    for each in inspect.signature(getattr(toolvet, name)).parameters.values():
        if each.kind is each.KEYWORD_ONLY and each.name != "options":
            assert f"{each.name}=" in ALL, f"{name}: {each.name}"


def test_the_work_folder_is_not_in_the_repository() -> None:
    assert ".fuzz/" in (HERE.parent / ".gitignore").read_text(encoding="utf-8").split()
