"""What builds a wheel finds what the build needs, also where an installer keeps that in a folder of its own."""

import os
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import SimpleNamespace

import pytest

ROOT = Path(__file__).parent.parent


def test_the_compiler_of_phrases_sees_what_the_build_sees(monkeypatch: pytest.MonkeyPatch) -> None:
    # Only where wheels are built is hatchling installed.
    interface = SimpleNamespace(BuildHookInterface=dict)
    monkeypatch.setitem(sys.modules, "hatchling.builders.hooks.plugin.interface", interface)
    spec = spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    assert spec is not None
    assert spec.loader is not None
    hook = module_from_spec(spec)
    spec.loader.exec_module(hook)
    monkeypatch.setattr(sys, "path", [*sys.path, "/isolated/overlay"])
    path = hook.search_path(str(ROOT)).split(os.pathsep)
    assert path[0] == str(ROOT / "src")
    assert "/isolated/overlay" in path
