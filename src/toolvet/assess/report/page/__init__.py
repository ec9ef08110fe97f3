"""A page's template with everything in it: its style sheets and its script, and a policy that allows only these.

The servers under test write most of the text of a page, so it trusts nothing: every value is made visible and escaped,
and a Content-Security-Policy allows this style sheet and this script by their hashes, and nothing else.
"""

import base64
import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from jinja2 import DictLoader, Environment, StrictUndefined, Template
from markupsafe import Markup

from toolvet.core import discover
from toolvet.core.visible import visible


def load_template(
    package: str,
    name: str,
    *,
    styles: Sequence[tuple[str, str]],
    scripts: Sequence[tuple[str, str]],
    names: Mapping[str, Any],
) -> Template:
    """The template `name` of `package`.

    Args:
        package: Where the template is.
        name: Its file name.
        styles: The package and the file name of each style sheet, in their order.
        scripts: The same of each script.
        names: The names that the template may use beside those it is rendered with.
    """
    sources = {file: _decode(content) for file, content in discover.data_files(package, ".jinja")}
    environment = Environment(
        loader=DictLoader(sources),
        autoescape=True,
        finalize=_make_visible,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    style, script = _joined(styles), _joined(scripts)
    assets = {"style": style, "style_hash": _hash(style), "script": script, "script_hash": _hash(script)}
    return environment.get_template(name, globals={**assets, **names})


def _make_visible(value: object) -> object:
    """Applied to each value that the template writes, so that no control character of a server reaches the page."""
    return visible(value) if type(value) is str else value


def _joined(places: Sequence[tuple[str, str]]) -> Markup:
    return Markup("\n".join(_decode(discover.data_file(*place)) for place in places))  # noqa: S704 - our own files


def _decode(content: bytes) -> str:
    """Text with line feeds only: on Windows a checkout may have changed them, and the hash in the policy must fit."""
    return content.decode().replace("\r\n", "\n")


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
