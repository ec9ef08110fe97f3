"""The parts of an answer in which the assistant itself speaks: without code, quotations and drafts. Positions stay."""

import re

# A claim in a letter that the answer drafts is the letter's. It ends with the answer, or at a rule.
_LETTER = re.compile(
    r"^[*_#> ]{0,6}(?:subject|betreff|objet|asunto|assunto|oggetto|onderwerp|temat|тема|konu|主题|主題|件名|제목)\b"
    r"[*_ ]{0,4}[:\uff1a].*?(?=^[-*_]{3,}\s*$|\Z)",
    re.IGNORECASE | re.MULTILINE | re.DOTALL,
)
_BLOCKS = re.compile(r"^ {0,3}(`{3,}|~{3,}).*?(?:^ {0,3}\1|\Z)", re.MULTILINE | re.DOTALL)
_QUOTED_LINE = re.compile(r"^ {0,3}>[^\n]*", re.MULTILINE)
_INLINE = re.compile(r"`[^`\n]{1,200}`")
QUOTATION = re.compile(
    r'"([^"\n]{2,400})"|“([^”\n]{2,400})”|«([^»\n]{2,400})»|„([^“”\n]{2,400})[“”]|「([^」\n]{2,400})」'
)
# The code point of the zero of each script's decimal digits (Unicode 15.1).
_ZEROS = (
    0x660, 0x6F0, 0x7C0, 0x966, 0x9E6, 0xA66, 0xAE6, 0xB66, 0xBE6, 0xC66, 0xCE6, 0xD66, 0xDE6, 0xE50, 0xED0,
    0xF20, 0x1040, 0x1090, 0x17E0, 0x1810, 0x1946, 0x19D0, 0x1A80, 0x1A90, 0x1B50, 0x1BB0, 0x1C40, 0x1C50,
    0xA620, 0xA8D0, 0xA900, 0xA9D0, 0xA9F0, 0xAA50, 0xABF0, 0xFF10, 0x104A0, 0x10D30, 0x11066, 0x110F0, 0x11136,
    0x111D0, 0x112F0, 0x11450, 0x114D0, 0x11650, 0x116C0, 0x11730, 0x118E0, 0x11950, 0x11C50, 0x11D50, 0x11DA0,
    0x11F50, 0x16A60, 0x16AC0, 0x16B50, 0x1D7CE, 0x1D7D8, 0x1D7E2, 0x1D7EC, 0x1D7F6, 0x1E140, 0x1E2F0, 0x1E4F0,
    0x1E950, 0x1FBF0,
)  # fmt: skip
_DIGITS = {code: ord("0") + digit for start in _ZEROS for digit, code in enumerate(range(start, start + 10))}
_OTHER_DIGIT = re.compile(r"[^\D0-9]")
# A line break that was escaped once too often: before a space, a sign, a digit or a capital, and not in C:\\dir\\new.
_ESCAPED = re.compile(r"(?<![\\:])(?<!\\[nrt])(?:\\[nrt])+(?=[\s0-9A-Z\"'*#(\[{\u2022\u2013\u2014\u2705-]|\Z)")


def spoken(text: str) -> str:
    """`text` with code, quotations, quoted lines and drafted letters blanked."""
    if "`" in text or "~~~" in text:
        text = _INLINE.sub(_blank, without_code(text))
    if ":" in text or "\uff1a" in text:
        text = _LETTER.sub(_blank, text)
    if ">" in text:
        text = _QUOTED_LINE.sub(_blank, text)
    return QUOTATION.sub(_blank, text)


def without_code(text: str) -> str:
    """`text` with its code blocks blanked."""
    return _BLOCKS.sub(_blank, text) if "```" in text or "~~~" in text else text


def ascii_digits(text: str) -> str:
    """`text` with the decimal digits of every script as ASCII ones."""
    return text if text.isascii() or _OTHER_DIGIT.search(text) is None else text.translate(_DIGITS)


def without_escapes(text: str) -> str:
    r"""`text` with line breaks that are spelled `\n` blanked: some models escape them twice."""
    return _ESCAPED.sub(_blank, text) if "\\" in text else text


def _blank(match: re.Match[str]) -> str:
    return (
        "".join("\n" if character == "\n" else " " for character in match[0])
        if "\n" in match[0]
        else " " * len(match[0])
    )
