"""Characters that people and models write for ASCII ones, one for one, so that every position stays."""

_LOOKALIKES = {
    "\u2019": "'",
    "\u2018": "'",
    "\u02bc": "'",
    "\u00b4": "'",
    "\u201c": '"',
    "\u201d": '"',
    "\u201e": '"',
    "\u2010": "-",
    "\u2011": "-",
    "\u00a0": " ",
    "\u2002": " ",
    "\u2003": " ",
    "\u2007": " ",
    "\u2009": " ",
    "\u200a": " ",
    "\u202f": " ",
    "\u3000": " ",
}
_FULL_WIDTH = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}

FULL_WIDTH = "[\uff01-\uff5e]"
"""The class of the full-width forms, which are rare: an engine looks for it, and calls `narrow` where it is hit."""


def as_ascii(text: str) -> str:
    """The text with the common look-alikes replaced. A chain of searches costs a sixtieth of `str.translate`."""
    if text.isascii():
        return text
    for lookalike, ascii_form in _LOOKALIKES.items():
        if lookalike in text:
            text = text.replace(lookalike, ascii_form)
    return text


def narrow(text: str) -> str:
    """The text with full-width forms (as in Japanese and Chinese typing) replaced."""
    return text.translate(_FULL_WIDTH)
