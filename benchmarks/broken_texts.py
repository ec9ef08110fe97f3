"""Kinds of broken texts beyond the sixteen of `repair_json`: how models, people and programs write the arguments of a call.

Each function takes a random source and a valid object, and returns the text, or None if this object has no such form.
`KINDS` can be undone. `HOPELESS` cannot: a value that is lost must not come back as a sure one.
"""

import json
import random
import re
from collections.abc import Callable, Mapping
from typing import Any

Kind = Callable[[random.Random, dict[str, Any]], str | None]


def dumped(value: object, **options: Any) -> str:
    return json.dumps(value, ensure_ascii=False, **options)


def written(value: object, quote: Callable[[str], str] = dumped, **marks: str) -> str:
    """The value in a notation like JSON, with other marks for what is between the values."""
    comma, colon = marks.get("comma", ", "), marks.get("colon", ": ")
    if isinstance(value, dict):
        name = marks.get("name", "quoted")
        inner = (
            f"{each if name == 'bare' else quote(each)}{colon}{written(item, quote, **marks)}"
            for each, item in value.items()
        )
        return f"{marks.get('opening', '{')}{comma.join(inner)}{marks.get('closing', '}')}"
    if isinstance(value, list):
        return f"{marks.get('first', '[')}{comma.join(written(each, quote, **marks) for each in value)}{marks.get('last', ']')}"
    return quote(value) if isinstance(value, str) else marks.get(dumped(value), dumped(value))


def names(value: object) -> list[str]:
    if isinstance(value, dict):
        return [*value, *(name for each in value.values() for name in names(each))]
    return [name for each in value for name in names(each)] if isinstance(value, list) else []


def leaves(value: object) -> list[Any]:
    if isinstance(value, dict | list):
        return [leaf for each in (value.values() if isinstance(value, dict) else value) for leaf in leaves(each)]
    return [value]


def is_bare(value: object) -> bool:
    return all(re.fullmatch(r"[A-Za-z_]\w*", name) for name in names(value))


def is_flat(value: Mapping[str, object]) -> bool:
    return is_bare(value) and not [each for each in value.values() if isinstance(each, dict | list) or each is None]


def texts_match(value: object, pattern: str) -> bool:
    return all(re.fullmatch(pattern, each) for each in leaves(value) if isinstance(each, str))


def is_plain(value: object) -> bool:
    """Whether every text is one that needs no quotation marks in any notation."""
    return texts_match(value, r"[A-Za-z][\w ./@-]*[\w]") and not [
        each
        for each in leaves(value)
        if isinstance(each, str) and re.fullmatch(r"(?i)true|false|null|none|yes|no|on|off", each)
    ]


def yaml(value: object, indent: int = 0) -> str:
    """YAML in blocks; texts are quoted if they must be."""
    lines = []
    for name, each in value.items() if isinstance(value, dict) else enumerate(value):  # type: ignore[arg-type,var-annotated]
        head = f"{'  ' * indent}{name}:" if isinstance(value, dict) else f"{'  ' * indent}-"
        if isinstance(each, dict | list) and each:
            inner = yaml(each, indent + 1)
            if isinstance(value, dict):
                lines.append(f"{head}\n{inner}")
            else:
                lines.append(f"{head} {inner.lstrip()}")
        else:
            lines.append(f"{head} {yaml_scalar(each)}")
    return "\n".join(lines)


def yaml_scalar(value: object) -> str:
    if isinstance(value, str) and is_plain([value]):
        return value
    return dumped(value)


def scalar(value: object) -> str:
    return value if isinstance(value, str) else dumped(value)


def nested_yaml(_: random.Random, value: dict[str, Any]) -> str | None:
    return yaml(value) if is_bare(value) and value else None


def call_with_dots(rng: random.Random, value: dict[str, Any]) -> str | None:
    if not is_bare(value) or not value:
        return None
    return f"{rng.choice(('client.tools', 'functions', 'await api'))}.run({', '.join(f'{name}={each!r}' for name, each in value.items())})"


def thousands(_: random.Random, value: dict[str, Any]) -> str | None:
    large = [each for each in leaves(value) if type(each) is int and abs(each) >= 1000]
    text = re.sub(r"(?<=: )-?\d{4,}(?=[,}])", lambda found: f"{int(found[0]):,}", dumped(value))
    return text if large and text != dumped(value) else None


def dotted(_: random.Random, value: dict[str, Any]) -> str | None:
    flat: dict[str, Any] = {}
    for name, each in value.items():
        if isinstance(each, dict) and each and is_bare(each):
            flat |= {f"{name}.{inner}": item for inner, item in each.items()}
        else:
            flat[name] = each
    return dumped(flat) if flat != value else None


def hexadecimal(_: random.Random, value: dict[str, Any]) -> str | None:
    found = re.sub(r"(?<=: )\d+(?=[,}])", lambda digits: hex(int(digits[0])), dumped(value))
    return found if found != dumped(value) else None


def block_comments(_: random.Random, value: dict[str, Any]) -> str | None:
    return written(value, comma=", /* the next one */ ") if len(value) > 1 else None


def line_comments(_: random.Random, value: dict[str, Any]) -> str | None:
    return written(value, comma=",  # see above\n  ") if len(value) > 1 else None


def prose_with_braces(_: random.Random, value: dict[str, Any]) -> str | None:
    return f"{dumped(value)}\n\nI left out {{optional}} fields, and kept the [defaults]."


def told_twice(_: random.Random, value: dict[str, Any]) -> str | None:
    return f"{dumped(value)}\n{dumped(value)}" if value else None


def arguments_in_tags(_: random.Random, value: dict[str, Any]) -> str | None:
    if not is_bare(value) or not value or not texts_match(value, r"[^<>&]*"):
        return None
    return "\n".join(f'<arg name="{name}">{scalar(each)}</arg>' for name, each in value.items())


def parameters_in_tags(_: random.Random, value: dict[str, Any]) -> str | None:
    if not is_bare(value) or not value or not texts_match(value, r"[^<>&]*"):
        return None
    inner = "\n".join(f"<parameter={name}>\n{scalar(each)}\n</parameter>" for name, each in value.items())
    return f"<function=run>\n{inner}\n</function>"


def elements(_: random.Random, value: dict[str, Any]) -> str | None:
    if not is_flat(value) or not value or not texts_match(value, r"[^<>&]*"):
        return None
    return f"<arguments>{''.join(f'<{name}>{scalar(each)}</{name}>' for name, each in value.items())}</arguments>"


def javascript(_: random.Random, value: dict[str, Any]) -> str | None:
    if not is_bare(value) or not value:
        return None
    text = written(value, lambda each: "'" + dumped(each)[1:-1].replace("'", "\\'").replace('\\"', '"') + "'", name="x")
    return re.sub(r"'(\w+)': ", r"\1: ", text)[:-1] + ",}"


def backticks(_: random.Random, value: dict[str, Any]) -> str | None:
    if not texts_match(value, r"[^`$]*") or not [each for each in leaves(value) if isinstance(each, str)]:
        return None
    return written(value, lambda each: f"`{each}`" if "\\" not in each else dumped(each))


def markdown_table(_: random.Random, value: dict[str, Any]) -> str | None:
    if not is_flat(value) or not value or not texts_match(value, r"[^|\n`]*[^|\n\s`]"):
        return None
    return "| Parameter | Value |\n|---|---|\n" + "\n".join(
        f"| {name} | {scalar(each)} |" for name, each in value.items()
    )


def equals_lines(_: random.Random, value: dict[str, Any]) -> str | None:
    if not is_flat(value) or not value or not texts_match(value, r"[^\n\"'`]*[^\n\s\"'`]"):
        return None
    return "\n".join(f"{name}={scalar(each)}" for name, each in value.items())


def bullets(_: random.Random, value: dict[str, Any]) -> str | None:
    if not is_flat(value) or not value or not texts_match(value, r"[^\n*`\"']*[^\n*`\s\"']"):
        return None
    return "\n".join(f"- **{name}**: {scalar(each)}" for name, each in value.items())


def jsonp(_: random.Random, value: dict[str, Any]) -> str | None:
    return f"callback({dumped(value)});"


def python_tuples(_: random.Random, value: dict[str, Any]) -> str | None:
    def lists(each: Any) -> Any:
        if isinstance(each, list):
            return tuple(map(lists, each))
        return {name: lists(item) for name, item in each.items()} if isinstance(each, dict) else each

    return repr(lists(value)) if [each for each in value.values() if isinstance(each, list)] else None


def python_sets(_: random.Random, value: dict[str, Any]) -> str | None:
    found = [
        name
        for name, each in value.items()
        if isinstance(each, list) and each and all(isinstance(item, str) for item in each)
    ]
    if not found:
        return None
    return f"{{{', '.join(f'{name!r}: ' + ('{' + ', '.join(map(repr, each)) + '}' if name in found else repr(each)) for name, each in value.items())}}}"


def python_dict(_: random.Random, value: dict[str, Any]) -> str | None:
    return (
        f"dict({', '.join(f'{name}={each!r}' for name, each in value.items())})" if is_bare(value) and value else None
    )


def escaped(_: random.Random, value: dict[str, Any]) -> str | None:
    return dumped(dumped(value))[1:-1] if value else None


def encoded_thrice(_: random.Random, value: dict[str, Any]) -> str | None:
    return dumped(dumped(dumped(value)))


def byte_order_mark(_: random.Random, value: dict[str, Any]) -> str | None:
    return f"\ufeff\u200b{dumped(value)}\u200b"


def no_break_spaces(_: random.Random, value: dict[str, Any]) -> str | None:
    return written(value, comma=",\u00a0\u00a0", colon="\u00a0:\u00a0") if value else None


def cut_in_escape(_: random.Random, value: dict[str, Any]) -> str | None:
    last = list(value.values())[-1:] if value else []
    if not last or not isinstance(last[0], str) or not last[0]:
        return None
    return dumped(value)[:-2] + "\\"


def full_width(_: random.Random, value: dict[str, Any]) -> str | None:
    return written(value, comma="\uff0c", colon="\uff1a", opening="\uff5b", closing="\uff5d") if value else None


def full_width_digits(_: random.Random, value: dict[str, Any]) -> str | None:
    wide = str.maketrans("0123456789", "\uff10\uff11\uff12\uff13\uff14\uff15\uff16\uff17\uff18\uff19")
    found = re.sub(r"(?<=: )\d+(?=[,}])", lambda digits: digits[0].translate(wide), dumped(value))
    return found if found != dumped(value) else None


def guillemets(_: random.Random, value: dict[str, Any]) -> str | None:
    return written(value, lambda each: "\u00ab" + dumped(each)[1:-1] + "\u00bb") if value else None


def in_tool_call(_: random.Random, value: dict[str, Any]) -> str | None:
    return f"<tool_call>\n{dumped({'name': 'run', 'arguments': value})}\n</tool_call>" if value else None


def no_braces(_: random.Random, value: dict[str, Any]) -> str | None:
    return dumped(value)[1:-1] if value else None


def no_colons(_: random.Random, value: dict[str, Any]) -> str | None:
    return written(value, colon=" ") if value else None


def doubled_quotes(_: random.Random, value: dict[str, Any]) -> str | None:
    return written(value, lambda each: f'""{dumped(each)[1:-1]}""') if value and "" not in leaves(value) else None


def extra_commas(_: random.Random, value: dict[str, Any]) -> str | None:
    return written(value, comma=",, ") if len(value) > 1 else None


def leading_comma(_: random.Random, value: dict[str, Any]) -> str | None:
    return "{, " + dumped(value)[1:] if value else None


def arrows(_: random.Random, value: dict[str, Any]) -> str | None:
    return written(value, colon=" => ") if value else None


def php(_: random.Random, value: dict[str, Any]) -> str | None:
    # There, an empty object is an empty list.
    if not value or not texts_match(value, r"[^'\\\n]*") or "{}" in dumped(value):
        return None
    return written(value, lambda each: f"'{each}'", colon=" => ", opening="[", closing="]")


def all_open_quotes(_: random.Random, value: dict[str, Any]) -> str | None:
    return (
        written(value, lambda each: "\u201c" + dumped(each)[1:-1] + "\u201c")
        if texts_match(value, '[^\u201c"]*') and value
        else None
    )


def no_commas(_: random.Random, value: dict[str, Any]) -> str | None:
    return written(value, comma="\n  ") if len(value) > 1 else None


def all_semicolons(_: random.Random, value: dict[str, Any]) -> str | None:
    return written(value, comma="; ") if len(value) > 1 else None


def assignment(rng: random.Random, value: dict[str, Any]) -> str | None:
    return f"{rng.choice(('const args', 'arguments', 'let params', 'args'))} = {dumped(value)};" if value else None


def bare_texts(_: random.Random, value: dict[str, Any]) -> str | None:
    return written(value, str, name="bare") if is_bare(value) and value and is_plain(value) else None


def single_value(_: random.Random, value: dict[str, Any]) -> str | None:
    found = next(iter(value.values()), None)
    return dumped(found) if len(value) == 1 and is_flat(value) else None


def bare_value(_: random.Random, value: dict[str, Any]) -> str | None:
    found = next(iter(value.values()), None)
    return found if len(value) == 1 and isinstance(found, str) and is_plain(found) else None


KINDS: Mapping[str, Kind] = {
    "call of a dotted name": call_with_dots,
    "nested YAML": nested_yaml,
    "no commas": no_commas,
    "dotted names": dotted,
    "groups of thousands": thousands,
    "semicolons": all_semicolons,
    "opening quotes only": all_open_quotes,
    "hexadecimal": hexadecimal,
    "block comments": block_comments,
    "comments of Python": line_comments,
    "prose with braces": prose_with_braces,
    "the same twice": told_twice,
    "<arg name=…>": arguments_in_tags,
    "<parameter=…>": parameters_in_tags,
    "elements": elements,
    "JavaScript": javascript,
    "backticks": backticks,
    "Markdown table": markdown_table,
    "name=value lines": equals_lines,
    "Markdown bullets": bullets,
    "one value": single_value,
    "JSONP": jsonp,
    "Python tuples": python_tuples,
    "Python sets": python_sets,
    "dict(…)": python_dict,
    "escaped": escaped,
    "encoded three times": encoded_thrice,
    "byte order mark": byte_order_mark,
    "no-break spaces": no_break_spaces,
    "full-width punctuation": full_width,
    "full-width digits": full_width_digits,
    "guillemets": guillemets,
    "<tool_call>": in_tool_call,
    "no braces": no_braces,
    "no colons": no_colons,
    "doubled quotes": doubled_quotes,
    "extra commas": extra_commas,
    "leading comma": leading_comma,
    "arrows": arrows,
    "PHP": php,
    "assignment": assignment,
    "bare texts": bare_texts,
    "cut in an escape": cut_in_escape,
}


def cut_in_name(rng: random.Random, value: dict[str, Any]) -> str | None:
    places = [found.start() for found in re.finditer(r'(?<=, ")\w', dumped(value))]
    return dumped(value)[: rng.choice(places) + 1] if places else None


def cut_in_number(_: random.Random, value: dict[str, Any]) -> str | None:
    return dumped(value)[:-2] if re.search(r": \d\d+}$", dumped(value)) else None


def not_a_number(rng: random.Random, value: dict[str, Any]) -> str | None:
    found = [name for name, each in value.items() if type(each) in (int, float)]
    return dumped({**value, rng.choice(found): float("nan")}) if found else None


def two_objects(rng: random.Random, value: dict[str, Any]) -> str | None:
    found = [name for name, each in value.items() if isinstance(each, str)]
    return f"{dumped(value)}\n{dumped({**value, rng.choice(found): 'another'})}" if found else None


def elided(_: random.Random, value: dict[str, Any]) -> str | None:
    return dumped(value)[: len(dumped(value)) // 2] + "..." if len(value) > 1 else None


HOPELESS: Mapping[str, Kind] = {
    "cut in a name": cut_in_name,
    "cut in a number": cut_in_number,
    "NaN": not_a_number,
    "two objects": two_objects,
    "elided": elided,
    "one value, bare": bare_value,
}
