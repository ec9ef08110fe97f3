"""`TextRules`: strings that meet lengths, patterns and formats at once."""

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import islice, permutations

import msgspec

from toolvet.core.json_value import count
from toolvet.core.schema.compilation import compiled
from toolvet.core.schema.naming import formats
from toolvet.core.schema.pattern import texts

# A longer minLength is left alone: no reader wants such an example, and it would only cost memory.
LONGEST = 1_000_000


class TextRules(msgspec.Struct):
    """The demands on a string. Lengths are in code points."""

    least: int = 0
    most: int | None = None
    patterns: tuple[str, ...] = ()
    formats: tuple[str, ...] = ()

    def accepts(self, text: str) -> bool:
        """Whether `text` meets all rules, by the judgement of the real engine."""
        if len(text) < self.least or (self.most is not None and len(text) > self.most):
            return False
        return all(matches(pattern, text) for pattern in self.patterns) and all(
            has_format(text, name) for name in self.formats
        )

    def matching_texts(self, wishes: Iterable[object], variation: int = 0) -> Iterator[str]:
        """Yield strings that meet the rules, those of `wishes` first; a bounded number, maybe none."""
        if self.least > LONGEST or (self.most is not None and self.most < self.least):
            return
        seen: set[str] = set()
        for text in self._candidates(wishes, variation):
            if text not in seen and self.accepts(text):
                seen.add(text)
                yield text

    def _candidates(self, wishes: Iterable[object], variation: int) -> Iterator[str]:
        wished = [wish for wish in wishes if isinstance(wish, str)]
        yield from wished
        fill = max(self.least, 3)
        for name in self.formats:
            yield from _texts_of_format(name, variation, fill)
        for pattern in self.patterns:
            yield from texts(pattern, self.least, self.most)
        yield from self._joined_pieces(variation)
        if self.patterns or any(name in formats() for name in self.formats):
            for wish in wished:
                yield from (wish.lower(), wish.upper(), wish.replace(" ", "-").lower(), wish.replace(" ", "_"))
            yield from _LAST
        yield from self._free_texts(wished[0] if wished else "example", variation)

    def _joined_pieces(self, variation: int) -> Iterator[str]:
        """Pieces of all patterns in one text, with a filler: most patterns ask for a beginning, an end, or a part."""
        pieces = [list(islice(texts(pattern), 3)) for pattern in self.patterns[:4]]
        for order in islice(permutations(pieces), 24) if pieces and all(pieces) else ():
            for choice in range(3):
                chosen = [found[choice % len(found)] for found in order]
                gap = max(0, self.least - sum(map(len, chosen)))
                filler = ("example" * (gap // 7 + 1))[:gap]
                for fill in (filler, "a" * gap, "1" * gap, f"{filler}{variation + 1}", _spell_number(variation, 2)):
                    yield "".join((chosen[0], fill, *chosen[1:]))
                    yield "".join((fill, *chosen))

    def _free_texts(self, base: str, variation: int) -> Iterator[str]:
        """A text of any wording in the demanded length; another one for another variation."""
        most = LONGEST if self.most is None else self.most
        for text in (base, *base.split(), "example", "text", "ab", "a", ""):
            varied = text if variation == 0 else f"{text}-{variation + 1}"
            if self.least <= len(varied) <= most:
                yield varied
        if most < 8 and variation:
            yield from (
                _spell_number(number, max(self.least, min(most, 2))) for number in range(variation, variation + 5)
            )
        mark = "" if variation == 0 else f"{variation + 1} "
        long = (mark + (base + " ") * (self.least // (len(base) + 1) + 1))[: max(self.least, min(most, len(base)))]
        yield long[:-1] + "e" if long.endswith(" ") else long


_LAST = (
    "Example-1",
    "example",
    "Example",
    "EXAMPLE",
    "a",
    "A",
    "1",
    "0",
    "12345",
    "aA1!aA1!aA1!",
    "1.0.0",
    "*",
    "/",
    "a/b",
    " ",
    "",
)


@lru_cache(maxsize=8192)
def matches(pattern: str, text: str) -> bool:
    """Whether `pattern` is found in `text`; a pattern that no engine accepts matches everything."""
    return compiled({"pattern": pattern}).is_valid(text)


@lru_cache(maxsize=8192)
def has_format(text: str, name: str) -> bool:
    """Whether `text` is of the format `name`; a format that no draft names is met by everything."""
    return compiled({"format": name}).is_valid(text)


def text_rules(schemas: Iterable[Mapping[str, object]]) -> TextRules:
    """The rules that all of `schemas` make."""
    rules = TextRules()
    patterns: list[str] = []
    named: list[str] = []
    for schema in schemas:
        least, most = count(schema.get("minLength")), count(schema.get("maxLength"))
        rules.least = max(rules.least, least or 0)
        if most is not None:
            rules.most = most if rules.most is None else min(rules.most, most)
        for keyword, found in (("pattern", patterns), ("format", named)):
            value = schema.get(keyword)
            if isinstance(value, str) and value not in found:
                found.append(value)
    rules.patterns, rules.formats = tuple(patterns), tuple(named)
    return rules


def _texts_of_format(name: str, variation: int, fill: int) -> Iterator[str]:
    templates = formats().get(name, ())
    start = 0 if variation == 0 else 1
    filler = ("example" * (fill // 7 + 1))[: max(1, min(fill, 60))]
    for template in (*templates[start:], *templates[:start]):
        yield template.format(n=variation % 28 + 1, fill=filler)
    if fill > 20:
        for template in templates:
            if "{fill}" in template:
                labels = "/".join if "/" in template else ".".join
                yield template.format(n=1, fill=labels(["example"] * (fill // 8 + 1)))


def _spell_number(number: int, length: int) -> str:
    """The number written with letters: for texts too short for words."""
    written = ""
    for _ in range(length):
        number, digit = divmod(number, 26)
        written = chr(97 + digit) + written
    return written
