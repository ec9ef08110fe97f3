"""Writes the pages of the reference that follow from the code: commands, settings and the Python API.

python docs/site/reference.py docs

`tests/test_reference.py` holds that they are up to date.
"""

import ast
import enum
import importlib
import inspect
import json
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import toolvet
from toolvet.cli import app
from toolvet.core.settings import settings_schema

_DEFINED: Final = re.compile(r"^from (\S+) import \(\n(.*?)^\)", re.MULTILINE | re.DOTALL)
# The flags of a command are settings under the section of its name, and their help describes both.
_COMMANDS: Final = ("assess", "proxy", "serve", "hook")


def pages() -> dict[str, str]:
    """Return the content of each generated file by its name in docs/."""
    schema = settings_schema()
    return {
        "commands.md": _commands(),
        "settings.md": _settings(schema),
        "api.md": _api(),
        "toolvet.schema.json": json.dumps(schema, indent=2, ensure_ascii=False) + "\n",
    }


def _commands() -> str:
    words = app().generate_docs(output_format="markdown", heading_level=1)
    # Started as a module, a program's usage lines name that module as well.
    words = re.sub(r"^(toolvet[^\n]*?) -m \S+", r"\1", words, flags=re.MULTILINE)
    words = re.sub(r"^## Table of Contents\n.*?(?=^\*\*)", "", words, flags=re.MULTILINE | re.DOTALL)
    return words.replace(
        "# toolvet\n", "# Commands and flags\n\nEvery command with every flag, as `--help` prints them.\n", 1
    )


def _settings(schema: dict[str, Any]) -> str:
    lines = [
        "# Settings",
        "",
        "Set these keys in `toolvet.toml`, or under `[tool.toolvet]` in `pyproject.toml`. Flags override settings.",
        "Editors that know TOML schemas complete and check the file if it begins with",
        "`#:schema https://toolvet.github.io/toolvet/toolvet.schema.json`.",
        "",
    ]
    definitions = schema["$defs"]
    for section, part in schema["properties"].items():
        lines += _section(section, _resolved(part, definitions), definitions, _help_of(section))
    return "\n".join(lines).rstrip() + "\n"


def _section(path: str, schema: dict[str, Any], definitions: dict[str, Any], told: Mapping[str, str]) -> Iterator[str]:
    yield from (f"## `[{path}]`", "", _description(schema, path), "")
    inner: list[tuple[str, dict[str, Any]]] = []
    rows: list[str] = []
    for key, value in schema.get("properties", {}).items():
        resolved = _resolved(value, definitions)
        if "properties" in resolved:
            inner.append((f"{path}.{key}", resolved))
            continue
        items = resolved.get("items", {})
        if "$ref" in items and "properties" in (items := _resolved(items, definitions)):
            inner.append((f"[{path}.{key}]", items))
            continue
        default = value.get("default")
        shown = "" if default in (None, [], {}) else f"`{json.dumps(default)}`"
        rows.append(f"| `{key}` | {_kind(value, definitions)} | {shown} | {told.get(key, '')} |")
    if rows:
        yield from ("| key | type | default | |", "|---|---|---|---|", *rows, "")
    for inner_path, inner_schema in inner:
        yield from _section(inner_path, inner_schema, definitions, {})


def _description(schema: Mapping[str, Any], path: str) -> str:
    words = inspect.cleandoc(str(schema.get("description", "")))
    words = re.split(r"\n\n(?=Example|>>>)", words)[0]
    return re.sub(rf"^`\[+{re.escape(path.strip('[]'))}\]+`: (\w)", lambda found: found[1].upper(), words)


def _resolved(schema: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    options = [each for each in schema.get("anyOf", []) if each != {"type": "null"}]
    if len(options) == 1:
        return _resolved(options[0], definitions)
    for each in options:
        if "$ref" in each:
            return _resolved(each, definitions)
    name = schema.get("$ref", "").rpartition("/")[2]
    return dict(definitions[name]) if name else schema


def _kind(schema: dict[str, Any], definitions: dict[str, Any]) -> str:
    """The type of a value in a few words."""
    if "anyOf" in schema:
        return " or ".join(_kind(each, definitions) for each in schema["anyOf"] if each != {"type": "null"})
    if "enum" in schema:
        return ", ".join(f"`{json.dumps(each)}`" for each in schema["enum"])
    match schema.get("type"):
        case "array":
            return f"list of {_kind(schema.get('items', {}), definitions)}"
        case "object":
            return f"table of {_kind(schema.get('additionalProperties', {}), definitions)}"
        case str(kind):
            return kind
    return "table" if "$ref" in schema else "any"


def _help_of(section: str) -> dict[str, str]:
    if section not in _COMMANDS:
        return {}
    arguments = app()[section].assemble_argument_collection()
    helped = {each.name.removeprefix("--").replace("-", "_"): each.parameter.help or "" for each in arguments}
    return {key: re.sub(r"\s+", " ", words).replace("|", "\\|") for key, words in helped.items()}


def _api() -> str:
    stub = Path(toolvet.__file__).with_suffix(".pyi").read_text(encoding="utf-8")
    lines = [
        "# Python API",
        "",
        "Every public name of `toolvet`, by its module. [Use toolvet as a library](library.md) introduces them.",
        "",
    ]
    for module, names in _DEFINED.findall(stub):
        title = (importlib.import_module(module).__doc__ or module).strip().partition("\n")[0]
        lines += [f"## {module.removeprefix('toolvet.')}", "", title, ""]
        for name in re.findall(r"(\w+) as \w+", names):
            lines += _member(name, getattr(toolvet, name))
    return "\n".join(lines).rstrip() + "\n"


def _member(name: str, value: Any) -> Iterator[str]:
    yield from (f"### {name}", "")
    node = _definition(value)
    if isinstance(node, ast.ClassDef) and issubclass(value, enum.Enum):
        yield from ("Values: " + ", ".join(f"`{each.value}`" for each in value) + ".", "")
    elif node is not None and not (isinstance(value, type) and issubclass(value, BaseException)):
        yield from ("```python", _signature(node), "```", "")
    yield from (_docstring(inspect.getdoc(value) or ""), "")
    for part in node.body if isinstance(node, ast.ClassDef) else ():
        if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef) and not part.name.startswith("_"):
            is_property = any(ast.unparse(each).endswith("property") for each in part.decorator_list)
            shown = f"{part.name}: {ast.unparse(part.returns)}" if is_property and part.returns else _signature(part)
            yield from (f"#### {name}.{part.name}", "", "```python", shown, "```", "")
            yield from (_docstring(ast.get_docstring(part) or ""), "")


def _definition(value: Any) -> ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | None:
    """Where a function or class is defined: annotations as they are written there need nothing imported."""
    try:
        tree = ast.parse(inspect.getsource(sys.modules[value.__module__]))
    except (AttributeError, KeyError, OSError, TypeError):
        return None
    kinds = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    found = [node for node in tree.body if isinstance(node, kinds) and node.name == getattr(value, "__name__", "")]
    return found[-1] if found else None


def _signature(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> str:
    """The first line of a definition, broken if it is long."""
    if isinstance(node, ast.ClassDef):
        made = [each for each in node.body if isinstance(each, ast.FunctionDef) and each.name == "__init__"]
        fields = [ast.unparse(each) for each in node.body if isinstance(each, ast.AnnAssign)]
        fields = [each for each in fields if not each.startswith("_") and "ClassVar" not in each]
        arguments = _arguments(made[0].args) if made else fields
        head, tail = f"class {node.name}", ""
    else:
        arguments = _arguments(node.args)
        head = f"{'async ' if isinstance(node, ast.AsyncFunctionDef) else ''}def {node.name}"
        tail = f" -> {ast.unparse(node.returns)}" if node.returns is not None else ""
    line = f"{head}({', '.join(arguments)}){tail}"
    return line if len(line) <= 100 else "\n".join([f"{head}(", *(f"    {each}," for each in arguments), f"){tail}"])


def _arguments(found: ast.arguments) -> list[str]:
    """Each argument with its annotation and default, without `self`."""
    plain = [*found.posonlyargs, *found.args]
    defaults = [None] * (len(plain) - len(found.defaults)) + list(found.defaults)
    shown = [_argument(each, default) for each, default in zip(plain, defaults, strict=True)]
    shown = [each for each in shown if each not in ("self", "cls")]
    if found.posonlyargs:
        shown.insert(len([each for each in found.posonlyargs if each.arg not in ("self", "cls")]), "/")
    if found.vararg is not None:
        shown.append("*" + _argument(found.vararg, None))
    elif found.kwonlyargs:
        shown.append("*")
    shown += [_argument(each, default) for each, default in zip(found.kwonlyargs, found.kw_defaults, strict=True)]
    return [*shown, *(["**" + _argument(found.kwarg, None)] if found.kwarg is not None else [])]


def _argument(argument: ast.arg, default: ast.expr | None) -> str:
    typed = argument.arg if argument.annotation is None else f"{argument.arg}: {ast.unparse(argument.annotation)}"
    return typed if default is None else f"{typed} = {ast.unparse(default)}"


def _docstring(words: str) -> str:
    """A docstring in Google's style as Markdown."""
    out: list[str] = []
    inside = False
    in_example = False
    for line in words.splitlines():
        if re.fullmatch(r"(Args|Attributes|Raises|Returns|Yields|Examples?|Note)( \([^)]*\))?:", line):
            inside, in_example = True, line.startswith("Example")
            out += [f"**{line[:-1]}**", ""]
            continue
        if inside and line and not line.startswith(" "):
            inside = in_example = False
        if not inside or in_example:
            out.append(line)
        elif found := re.match(r"    ([\w*`\[\], .]+): (.*)", line):
            out.append(f"- `{found[1].strip('`')}`: {found[2]}")
        else:
            out.append(line[2:] if line.startswith("        ") else line.strip())
    return "\n".join(out).rstrip()


if __name__ == "__main__":
    for file, content in pages().items():
        (Path(sys.argv[1]) / file).write_text(content, encoding="utf-8")
