r"""Finds many phrases in a text in one pass, in time that grows with the text alone.

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

How one phrase is found, `\bneeds? .{0,40}café\b` in "She NEEDS a CAFÉ, not cafés.":

1. **Parse** (`syntax`): the pattern becomes a tree (`tree`); a construct that needs backtracking is refused.
2. **Translate** (`dialect`): the tree is written for `re`, exactly: `\0<needs?\x20[^\x0a]{0,40}caf(?:é|É)\0>`. The `\0`
   tokens are borders of words, which `letters` fills in; é gets its upper case because `re` gets the flag for ASCII.
3. **Anchor** (`anchor`): Hyperscan gets less, namely the longest words, here `\bneed`, any run of characters that may
   be between them, and `caf(?:\xc3[\x89\xa9])`, which is é or É in UTF-8. That makes small automata and misses nothing,
   but finds too much: "Needy cafés", too.
4. **Scan** (`engine_hyperscan`): one pass over the text finds where a match may end: at bytes 17 and 28, which are the
   characters 16 and 27. Before that, look-alikes and letters in two parts are normalized in the text (`letters`).
5. **Decide** (`pattern.finder`): from the width of a match (50) before each end on, `re` looks for the pattern
   itself. The first search finds the characters 4 to 16, the second nothing, because "cafés" goes on. The answer is
   `Hit("wish", 4, 16)`, in characters of the original text.

A pattern that could keep `re` busy on a hostile text (a repeat inside a repeat) is decided by `machine` instead. The
translations (`index`) and databases (`engine_hyperscan`) of a large set are kept in the user's cache; wheels bring
those of toolvet's own phrases (`toolvet.core.discover.prepared`). Until the databases are there, the slower engine
serves.
"""

from toolvet.core.exports import lazy

__getattr__, __dir__ = lazy(__name__)
