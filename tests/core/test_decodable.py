"""What msgspec 0.22 needs from us so that no thread and no end of a process crashes inside it.

`msgspec_faults.md` has the smallest programs that crash, as a report for its authors.
"""

import ast
import contextlib
import importlib
import os
import pkgutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec import inspect

import toolvet

SOURCES = Path(toolvet.__file__).parent

# msgspec stores what it knows of a Struct before it has all fields. The pause is where another thread may run.
FIRST_USE = """
import sys, threading, time
import msgspec._utils
import toolvet

TOOL = {"name": "f", "inputSchema": {"properties": {"a": {}}, "required": ["a"]}}
CHECKS = {
    "answer": lambda: toolvet.check_answer("I could not find order 5, sorry."),
    "arguments": lambda: toolvet.check_arguments(TOOL, {"b": 1}),
    "result": lambda: toolvet.check_result({"name": "f"}, {}, {"content": [{"type": "text", "text": "Error: no"}]}),
    "conversation": lambda: toolvet.check_conversation([{"role": "user", "content": "stop"}]),
}
check = CHECKS[sys.argv[1]]
whole = msgspec._utils._get_class_mro_and_typevar_mappings

def slow(kind):
    time.sleep(0.002)
    return whole(kind)

msgspec._utils._get_class_mro_and_typevar_mappings = slow
start = threading.Barrier(4)
found = []

def work():
    start.wait()
    found.append(check())

threads = [threading.Thread(target=work) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert len(found) == 4
"""

# The memory of the interpreter is checked at each release.
AT_EXIT = "import msgspec, sys, {module} as m; msgspec.json.Decoder(m.{kind})"


@pytest.mark.parametrize("check", ["answer", "arguments", "result", "conversation"])
def test_threads_that_check_for_the_first_time_do_not_crash(check: str) -> None:
    ended = subprocess.run([sys.executable, "-c", FIRST_USE, check], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")


@pytest.mark.parametrize("kind", ["StoreCall", "StoreResult", "StoreArguments", "AnyStored"])
def test_a_process_that_read_this_body_ends(kind: str) -> None:
    code = AT_EXIT.format(module="toolvet.server.dashboard.api.given", kind=kind)
    environment = {**os.environ, "PYTHONMALLOC": "debug"}
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, env=environment)
    assert (ended.returncode, ended.stderr) == (0, "")


def structs(kind: type[msgspec.Struct] = msgspec.Struct) -> Iterator[type[msgspec.Struct]]:
    for below in kind.__subclasses__():
        yield below
        yield from structs(below)


def unions(kind: inspect.Type) -> Iterator[inspect.UnionType]:
    if isinstance(kind, inspect.UnionType):
        yield kind
    parts: list[Any] = [getattr(kind, name, None) for name in ("item_type", "key_type", "value_type")]
    for part in [*parts, *getattr(kind, "item_types", ()), *getattr(kind, "types", ())]:
        if isinstance(part, inspect.Type):
            yield from unions(part)


CONTAINERS = (
    inspect.DictType,
    inspect.ListType,
    inspect.SetType,
    inspect.FrozenSetType,
    inspect.VarTupleType,
    inspect.TupleType,
)


def test_no_union_has_a_pattern_beside_a_container() -> None:
    """msgspec 0.22 releases the pattern of `list[int] | Annotated[str, Meta(pattern=…)]` as if it were a type."""
    for module in pkgutil.walk_packages([str(SOURCES)], "toolvet."):
        if ".frameworks." not in module.name and not module.name.endswith("__main__"):
            with contextlib.suppress(ImportError):  # Of an extra that is not installed.
                importlib.import_module(module.name)
    seen = 0
    wrong: list[str] = []
    for struct in structs():
        if not struct.__module__.startswith("toolvet."):
            continue
        try:
            info = inspect.type_info(struct)
        except (NameError, TypeError):
            continue  # msgspec cannot decode it.
        assert isinstance(info, inspect.StructType)
        for field in info.fields:
            for union in unions(field.type):
                seen += 1
                has_pattern = any(isinstance(part, inspect.StrType) and part.pattern for part in union.types)
                if has_pattern and any(isinstance(part, CONTAINERS) for part in union.types):
                    wrong.append(f"{struct.__module__}.{struct.__name__}.{field.name}")
    assert seen > 100
    assert wrong == []


PLAIN = {"list", "dict", "tuple", "set", "str", "int", "float", "bool", "object", "Any", "msgspec.Raw", "None"}


def is_made_ready(kind: ast.expr) -> bool:
    """Whether a type has no Struct, or is made ready by `decodable`."""
    if isinstance(kind, ast.Call):
        return ast.unparse(kind.func) == "decodable"
    if isinstance(kind, ast.Constant):
        return True
    if isinstance(kind, ast.Subscript):
        parts = kind.slice.elts if isinstance(kind.slice, ast.Tuple) else [kind.slice]
        return is_made_ready(kind.value) and all(is_made_ready(part) for part in parts)
    return ast.unparse(kind) in PLAIN


# One thread of a command reads these.
ONE_THREAD = {
    "assess/many/folder.py",
    "assess/many/pool.py",
    "batch/output.py",
    "mcp/transport/registry.py",
    "server/review/learning/labels.py",
}


def late_types(tree: ast.AST) -> Iterator[ast.expr]:
    """The types that functions give to msgspec; what a module gives it is made when the module is imported."""
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        for call in ast.walk(function):
            if not isinstance(call, ast.Call):
                continue
            name = ast.unparse(call.func)
            if not name.startswith("msgspec."):
                continue
            if name == "msgspec.convert" or name.endswith(".Decoder"):
                yield from call.args[name == "msgspec.convert" :]
            yield from (each.value for each in call.keywords if each.arg == "type")


def test_functions_make_types_ready_before_msgspec_uses_them() -> None:
    wrong = [
        f"{path.relative_to(SOURCES)}:{kind.lineno}: {ast.unparse(kind)}"
        for path in sorted(SOURCES.rglob("*.py"))
        if path.relative_to(SOURCES).as_posix() not in {"core/decodable.py", *ONE_THREAD}
        for kind in late_types(ast.parse(path.read_text(encoding="utf-8")))
        if not is_made_ready(kind)
    ]
    assert wrong == []
