r"""Patterns and a text in, spans out: many phrases in one pass, in time that grows with the text alone.

    phrases = PatternSet([Pattern("greeting", r"\bgood (?:morning|evening)\b"), literal("farewell", "see you")])
    phrases.scan("Good evening!")            # [Hit(id='greeting', start=0, end=12)]
    phrases.only(["farewell"]).scan("…")     # only these; shares what is compiled

A pattern is a regular expression without look-around, backreferences, atomic groups and other things that no engine
matches in linear time; a pattern that uses them is refused by name when the set is built (`UnsafePattern`). Write it as
the language is written (`dialect` has the rules):

- `\b` is a border of words in every script: `\bnão posso\b`, `\bमैं\b`. In Chinese, Japanese and Thai it
  asks for nothing, and Hangul may follow Latin letters without a space: `\bAPI\b` is found in "API를".
- Upper and lower case, curly apostrophes, special spaces, full-width letters, accents in two parts, vowel points and
  invisible characters take care of themselves, in pattern and text alike. Spans are of the original text.
- A gap such as `.{0,40}` is cheap. A short word alone (`\bto\b`) is expensive: it is looked at wherever it occurs.

This room does *not* know what a phrase means: the checks decide that. Hyperscan scans where its wheel exists
(`engine_hyperscan`), the standard library elsewhere (`engine_re`): slow, and the tests hold both to the same answers.
"""

from typing import TYPE_CHECKING

from toolvet.discover.names import named

if TYPE_CHECKING:
    from toolvet.matching.pattern import Hit, Pattern, literal
    from toolvet.matching.patterns import PatternSet
    from toolvet.matching.unsafe import UnsafePattern

__all__ = ["Hit", "Pattern", "PatternSet", "UnsafePattern", "literal"]

if not TYPE_CHECKING:  # A type checker knows the names above, and should complain of others.
    # A program that only names patterns loads no engine.
    __getattr__ = named(
        __name__,
        {"pattern": "Hit Pattern literal", "patterns": "PatternSet", "unsafe": "UnsafePattern"},
    )
