"""A model as a healer: any endpoint that answers like OpenAI's chat completions, asked over plain HTTP."""

import json
import re
import urllib.request
from typing import Any, NamedTuple

from benchmarks.healing.values import NOTHING, read

PROMPT = """You called a tool with these JSON arguments:

{call}

The tool answered with this error:

{text}

You cannot see the definition of the tool. Reply with the corrected JSON arguments alone."""


class Model(NamedTuple):
    """The address of the endpoint, the name of the model, and the key; some endpoints take none."""

    base_url: str
    name: str
    key: str = ""

    def heal(self, call: Any, text: str) -> Any:
        """The arguments of its reply; the same call where the reply has none."""
        asked = {
            "model": self.name,
            "messages": [{"role": "user", "content": PROMPT.format(call=json.dumps(call, indent=2), text=text)}],
        }
        headers = {"Content-Type": "application/json", **({"Authorization": f"Bearer {self.key}"} if self.key else {})}
        url = f"{self.base_url.rstrip('/')}/chat/completions"
        request = urllib.request.Request(url, json.dumps(asked).encode(), headers)  # noqa: S310 - given by the user
        with urllib.request.urlopen(request, timeout=120) as answer:  # noqa: S310
            reply = json.load(answer)["choices"][0]["message"]["content"] or ""
        shown = re.search(r"\{.*\}", reply, re.DOTALL)
        found = read(shown[0]) if shown else NOTHING
        return found if isinstance(found, dict) else call
