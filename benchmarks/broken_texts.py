"""Kinds of broken texts beyond the sixteen of `repair_json`: how models, people and programs write arguments.

Each function takes a random source and a valid object, and returns the text, or None if this object has no such form.
`KINDS` can be undone. `HOPELESS` cannot: a value that is lost must not come back as a sure one.
"""

import html
import json
import random
import re
import shlex
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlencode

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
        items = comma.join(written(each, quote, **marks) for each in value)
        return f"{marks.get('first', '[')}{items}{marks.get('last', ']')}"
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
    for name, each in value.items() if isinstance(value, dict) else enumerate(value):  # type: ignore[arg-type]
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
    inner = ", ".join(f"{name}={each!r}" for name, each in value.items())
    return f"{rng.choice(('client.tools', 'functions', 'await api'))}.run({inner})"


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
    sets = {name: f"{{{', '.join(map(repr, value[name]))}}}" for name in found}
    return f"{{{', '.join(f'{name!r}: {sets.get(name) or repr(each)}' for name, each in value.items())}}}"


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


# Invented after those above came back.


def mixed_quotes(rng: random.Random, value: dict[str, Any]) -> str | None:
    pairs = ("''", "``", "\u201c\u201d", "\u2018\u2019")
    if not value or not texts_match(value, "[^'`\u2018-\u201d\"\\\\\n]*"):
        return None
    return written(value, lambda each: (marks := rng.choice(pairs))[0] + each + marks[1])


def bold_lines(_: random.Random, value: dict[str, Any]) -> str | None:
    if not is_flat(value) or not value or not texts_match(value, r"[^\n*`\"']*[^\n*`\s\"']"):
        return None
    return "\n\n".join(f"**{name}:** {scalar(each)}" for name, each in value.items())


def toml(_: random.Random, value: dict[str, Any]) -> str | None:
    if not value or not is_bare(value) or [each for each in leaves(value) if each is None]:
        return None
    if [each for each in value.values() if isinstance(each, dict) or "{" in dumped(each)]:
        return None
    return "\n".join(f"{name} = {dumped(each)}" for name, each in value.items())


def query_string(_: random.Random, value: dict[str, Any]) -> str | None:
    return urlencode({name: scalar(each) for name, each in value.items()}) if value and is_flat(value) else None


def flags(_: random.Random, value: dict[str, Any]) -> str | None:
    if not value or not is_flat(value):
        return None
    return "run " + " ".join(f"--{name} {shlex.quote(scalar(each))}" for name, each in value.items())


def entities(_: random.Random, value: dict[str, Any]) -> str | None:
    return html.escape(dumped(value)) if value else None


def quoted_reply(_: random.Random, value: dict[str, Any]) -> str | None:
    return "\n".join(f"> {line}" for line in dumped(value, indent=2).splitlines()) if value else None


def numbered_lines(_: random.Random, value: dict[str, Any]) -> str | None:
    lines = dumped(value, indent=2).splitlines()
    return "\n".join(f"{number} | {line}" for number, line in enumerate(lines, 1)) if value else None


def ruby(_: random.Random, value: dict[str, Any]) -> str | None:
    if not value or not is_bare(value):
        return None
    return re.sub(r'"(\w+)": ', r":\1 => ", written(value, null="nil")) if texts_match(value, r"[^:]*") else None


def string_prefixes(_: random.Random, value: dict[str, Any]) -> str | None:
    return written(value, lambda each: f"u{each!r}", true="True", false="False", null="None") if value else None


def triple_quotes(_: random.Random, value: dict[str, Any]) -> str | None:
    if not value or not texts_match(value, r'[^"\\]*') or not [1 for each in leaves(value) if isinstance(each, str)]:
        return None
    held = dumped({name: f"\0{each}\0" if isinstance(each, str) else each for name, each in value.items()})
    return held.replace('"\\u0000', '"""').replace('\\u0000"', '"""').replace("\\n", "\n")


def unclosed_list(_: random.Random, value: dict[str, Any]) -> str | None:
    return dumped(value)[:-2] + "}" if dumped(value).endswith("]}") else None


def name_without_opening(rng: random.Random, value: dict[str, Any]) -> str | None:
    wrong = rng.choice(list(value)) if value and is_bare(value) else ""
    return dumped(value).replace(f'"{wrong}":', f'{wrong}":', 1) if wrong else None


def name_without_closing(rng: random.Random, value: dict[str, Any]) -> str | None:
    wrong = rng.choice(list(value)) if value and is_bare(value) else ""
    return dumped(value).replace(f'"{wrong}":', f'"{wrong}:', 1) if wrong else None


def text_without_opening(rng: random.Random, value: dict[str, Any]) -> str | None:
    found = [each for each in value.values() if isinstance(each, str) and is_plain([each])]
    return dumped(value).replace(f': "{(wrong := rng.choice(found))}"', f': {wrong}"', 1) if found else None


def text_without_closing(rng: random.Random, value: dict[str, Any]) -> str | None:
    found = [each for each in list(value.values())[:-1] if isinstance(each, str) and is_plain([each])]
    return dumped(value).replace(f': "{(wrong := rng.choice(found))}", "', f': "{wrong}, "', 1) if found else None


def odd_numbers(_: random.Random, value: dict[str, Any]) -> str | None:
    found = re.sub(r"(?<=: )(\d+)(?=[,}])", r"+\1", dumped(value))
    return found if found != dumped(value) else None


def split_over_lines(_: random.Random, value: dict[str, Any]) -> str | None:
    return "\n".join(dumped({name: each}) for name, each in value.items()) if len(value) > 1 else None


def named_values(_: random.Random, value: dict[str, Any]) -> str | None:
    return dumped([{"name": name, "value": each} for name, each in value.items()]) if len(value) > 1 else None


def invoked(_: random.Random, value: dict[str, Any]) -> str | None:
    if not value or not is_bare(value) or not texts_match(value, r"[^<>&]*"):
        return None
    inner = "\n".join(f'<parameter name="{name}">{scalar(each)}</parameter>' for name, each in value.items())
    return f'<function_calls>\n<invoke name="run">\n{inner}\n</invoke>\n</function_calls>'


def openai_call(_: random.Random, value: dict[str, Any]) -> str | None:
    call = {"id": "call_1", "type": "function", "function": {"name": "run", "arguments": dumped(value)}}
    return f"I call:\n{dumped(call)}" if value else None


def encoded_arguments(_: random.Random, value: dict[str, Any]) -> str | None:
    return f"```json\n{dumped({'name': 'run', 'arguments': dumped(value)})}\n```" if value else None


def double_braces(_: random.Random, value: dict[str, Any]) -> str | None:
    return f"{{{dumped(value)}}}" if value else None


def labelled(rng: random.Random, value: dict[str, Any]) -> str | None:
    return f"{rng.choice(('json', 'JSON:', 'Arguments:', 'Input'))}\n{dumped(value)}" if value else None


def special_tokens(_: random.Random, value: dict[str, Any]) -> str | None:
    return f"<|python_tag|>{dumped(value)}<|eom_id|>" if value else None


def tool_calls_token(_: random.Random, value: dict[str, Any]) -> str | None:
    return f"[TOOL_CALLS]run{dumped(value)}" if value else None


def lua(_: random.Random, value: dict[str, Any]) -> str | None:
    if not is_bare(value) or not value or "[" in dumped(value) or "null" in dumped(value):
        return None
    return re.sub(r'"(\w+)" = ', r"\1 = ", written(value, colon=" = "))


def struct(_: random.Random, value: dict[str, Any]) -> str | None:
    inner = re.sub(r'"(\w+)": ', r"\1: ", dumped(value))
    return f"Args {inner}" if value and is_bare(value) else None


def swift_call(_: random.Random, value: dict[str, Any]) -> str | None:
    if not is_bare(value) or not value:
        return None
    return f"run({', '.join(f'{name}: {dumped(each)}' for name, each in value.items())})"


def in_shell_quotes(_: random.Random, value: dict[str, Any]) -> str | None:
    return f"curl -d '{dumped(value)}' $URL" if value and texts_match(value, r"[^']*") else None


def powershell(_: random.Random, value: dict[str, Any]) -> str | None:
    if not is_flat(value) or not value or not texts_match(value, r"[^'\n\\]*"):
        return None
    told = {name: repr(each) if isinstance(each, str) else dumped(each) for name, each in value.items()}
    return f"@{{{'; '.join(f'{name} = {each}' for name, each in told.items())}}}"


def attributes(_: random.Random, value: dict[str, Any]) -> str | None:
    if not is_flat(value) or not value or not texts_match(value, r'[^"<>&\n]*'):
        return None
    return f"<run {' '.join(f'{name}={chr(34)}{scalar(each)}{chr(34)}' for name, each in value.items())}/>"


def parsed_in_javascript(_: random.Random, value: dict[str, Any]) -> str | None:
    return f"JSON.parse('{dumped(value)}')" if value and texts_match(value, r"[^'\\\n\"]*") else None


def kebab_names(_: random.Random, value: dict[str, Any]) -> str | None:
    found = {name.replace("_", "-"): each for name, each in value.items()}
    return dumped(found) if list(found) != list(value) else None


LATER: Mapping[str, Kind] = {
    "quotation marks of all kinds": mixed_quotes,
    "lines in bold": bold_lines,
    "TOML": toml,
    "query string": query_string,
    "flags": flags,
    "HTML entities": entities,
    "quoted reply": quoted_reply,
    "numbered lines": numbered_lines,
    "Ruby": ruby,
    "u'…'": string_prefixes,
    "triple quotes": triple_quotes,
    "list not closed": unclosed_list,
    "name without opening quote": name_without_opening,
    "name without closing quote": name_without_closing,
    "text without opening quote": text_without_opening,
    "text without closing quote": text_without_closing,
    "plus signs": odd_numbers,
    "a line for each member": split_over_lines,
    "list of names and values": named_values,
    "<invoke>": invoked,
    "call of OpenAI": openai_call,
    "arguments encoded": encoded_arguments,
    "double braces": double_braces,
    "label": labelled,
    "special tokens": special_tokens,
    "[TOOL_CALLS]": tool_calls_token,
    "Lua": lua,
    "struct": struct,
    "Swift call": swift_call,
    "curl": in_shell_quotes,
    "PowerShell": powershell,
    "attributes": attributes,
    "JSON.parse": parsed_in_javascript,
    "kebab-case": kebab_names,
}


# Invented last: nothing was changed for them.


def signature(_: random.Random, value: dict[str, Any]) -> str | None:
    return f"run({dumped(value)})" if value else None


def json5(_: random.Random, value: dict[str, Any]) -> str | None:
    return "// JSON5\n" + re.sub(r'"(\w+)":', r"\1:", dumped(value, indent=2)).replace("\n}", ",\n}") if value else None


def in_details(_: random.Random, value: dict[str, Any]) -> str | None:
    return f"<details><summary>Call</summary>\n\n```\n{dumped(value, indent=4)}\n```\n</details>" if value else None


def thought_first(_: random.Random, value: dict[str, Any]) -> str | None:
    return f"<think>I need {{name}} and a [list].</think>\n{dumped(value)}" if value else None


def react(_: random.Random, value: dict[str, Any]) -> str | None:
    return f"Thought: one call is enough.\nAction: run\nAction Input: {dumped(value)}\nObservation:" if value else None


def numbered_members(_: random.Random, value: dict[str, Any]) -> str | None:
    if not is_flat(value) or not value or not texts_match(value, r"[^\n*`\"']*[^\n*`\s\"']"):
        return None
    return "\n".join(f"{at}. `{name}`: {scalar(each)}" for at, (name, each) in enumerate(value.items(), 1))


def introduced_lines(_: random.Random, value: dict[str, Any]) -> str | None:
    if not is_flat(value) or not value or not texts_match(value, r"[^\n*`\"']*[^\n*`\s\"']"):
        return None
    return "Arguments:\n" + "\n".join(f"{name}: {scalar(each)}" for name, each in value.items())


def yaml_in_fence(_: random.Random, value: dict[str, Any]) -> str | None:
    return f"```yaml\n{yaml(value)}\n```" if value and is_bare(value) else None


def capital_literals(_: random.Random, value: dict[str, Any]) -> str | None:
    found = written(value, true="TRUE", false="FALSE", null="NULL")
    return found if found != dumped(value) else None


def grave_quotes(_: random.Random, value: dict[str, Any]) -> str | None:
    return written(value, lambda each: f"``{each}''") if value and texts_match(value, r"[^`'\\\"\n]*") else None


def two_commas_at_end(_: random.Random, value: dict[str, Any]) -> str | None:
    return f"{dumped(value)[:-1]},,}}" if value else None


def python_print(_: random.Random, value: dict[str, Any]) -> str | None:
    return f"```python\nresult = run(**{value!r})\nprint(result)\n```" if value else None


def ruby_call(_: random.Random, value: dict[str, Any]) -> str | None:
    if not value or not is_bare(value):
        return None
    return "run " + ", ".join(f"{name}: {dumped(each)}" for name, each in value.items())


def cdata(_: random.Random, value: dict[str, Any]) -> str | None:
    return f"<arguments><![CDATA[{dumped(value)}]]></arguments>" if value else None


def list_of_one(_: random.Random, value: dict[str, Any]) -> str | None:
    return dumped([value]) if value else None


def decimal_commas(_: random.Random, value: dict[str, Any]) -> str | None:
    found = re.sub(r"(?<=: )(\d+)\.(\d+)(?=[,}])", r'"\1,\2"', dumped(value))
    return found if found != dumped(value) else None


LAST: Mapping[str, Kind] = {
    "run({…})": signature,
    "JSON5": json5,
    "in <details>": in_details,
    "<think> first": thought_first,
    "ReAct": react,
    "numbered members": numbered_members,
    "lines after a title": introduced_lines,
    "YAML in a fence": yaml_in_fence,
    "TRUE and NULL": capital_literals,
    "``quotes''": grave_quotes,
    "two commas at the end": two_commas_at_end,
    "print(run(**{…}))": python_print,
    "Ruby call": ruby_call,
    "CDATA": cdata,
    "list of one": list_of_one,
    "decimal commas": decimal_commas,
}
