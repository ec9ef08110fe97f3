"""A small JSON Patch applier, written from RFC 6902 alone: what it makes of a patch is what the patch says."""

import copy
from collections.abc import Iterable, Mapping
from typing import Any


def patched(document: Any, patch: Iterable[Mapping[str, Any]]) -> Any:
    document = copy.deepcopy(document)
    for operation in patch:
        match operation["op"]:
            case "add":
                document = _add(document, _steps(operation["path"]), copy.deepcopy(operation["value"]))
            case "remove":
                document, _ = _remove(document, _steps(operation["path"]))
            case "replace":
                steps = _steps(operation["path"])
                if steps:
                    document, _ = _remove(document, steps)
                document = _add(document, steps, copy.deepcopy(operation["value"]))
            case "move":
                assert not f"{operation['path']}/".startswith(f"{operation['from']}/")
                document, value = _remove(document, _steps(operation["from"]))
                document = _add(document, _steps(operation["path"]), value)
            case other:
                raise AssertionError(other)
    return document


def _steps(pointer: str) -> list[str]:
    assert pointer == "" or pointer.startswith("/")
    return [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]


def _holder(document: Any, steps: list[str]) -> Any:
    for step in steps[:-1]:
        document = document[int(step)] if isinstance(document, list) else document[step]
    return document


def _add(document: Any, steps: list[str], value: Any) -> Any:
    if not steps:
        return value
    holder = _holder(document, steps)
    if isinstance(holder, list):
        assert int(steps[-1]) <= len(holder)
        holder.insert(int(steps[-1]), value)
    else:
        holder[steps[-1]] = value
    return document


def _remove(document: Any, steps: list[str]) -> tuple[Any, Any]:
    holder = _holder(document, steps)
    return document, holder.pop(int(steps[-1]) if isinstance(holder, list) else steps[-1])
