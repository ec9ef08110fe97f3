"""What builds a wheel compiles the phrases if it is asked to, and finds what the build needs."""

import os
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture
def hook(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    # Only where wheels are built is hatchling installed.
    interface = SimpleNamespace(BuildHookInterface=dict)
    monkeypatch.setitem(sys.modules, "hatchling.builders.hooks.plugin.interface", interface)
    spec = spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def built(hook: ModuleType, root: Path, version: str = "standard") -> dict[str, Any]:
    """The build data that the hook adds to a wheel of the project in this folder."""
    data: dict[str, Any] = {"force_include": {}, "pure_python": True}
    instance = hook.PreparedPhrasesHook()
    instance.root, instance.app = str(root), SimpleNamespace(display_info=print)
    instance.initialize(version, data)
    instance.finalize(version, data, "")
    return data


def test_the_compiler_of_phrases_sees_what_the_build_sees(hook: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path, "/isolated/overlay"])
    path = hook.search_path(str(ROOT)).split(os.pathsep)
    assert path[0] == str(ROOT / "src")
    assert "/isolated/overlay" in path


def test_an_installation_from_a_checkout_compiles_nothing_and_a_release_fails_without_the_phrases(
    hook: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Of a project whose phrases compile at once."""
    monkeypatch.delenv("TOOLVET_COMPILE_PHRASES", raising=False)
    nothing: dict[str, object] = {"force_include": {}, "pure_python": True}
    assert built(hook, tmp_path) == nothing
    monkeypatch.setenv("TOOLVET_COMPILE_PHRASES", "1")
    assert built(hook, tmp_path, "editable") == nothing
    monkeypatch.setattr(hook, "PREPARE", "print('hyperscan')")
    data = built(hook, tmp_path)
    assert list(data["force_include"].values()) == ["toolvet/core/prepared"]
    assert not data["pure_python"]
    assert data["tag"] == f"py3-none-{hook.platform_tag()}"
    for program in ("print('no engine')", "raise SystemExit('broken')"):
        monkeypatch.setattr(hook, "PREPARE", program)
        with pytest.raises(RuntimeError, match="the phrases were not compiled"):
            built(hook, tmp_path)
