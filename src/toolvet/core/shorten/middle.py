"""A text without its middle."""


def without_middle(text: str, most: int) -> str:
    """Return a text of at most `most` characters: its beginning and its end, and how much was between them.

    >>> without_middle("0123456789" * 10, 50)
    '01234567890123 … 79 characters left out … 3456789'
    """
    if len(text) <= most:
        return text
    room = most - len(f" … {len(text):,} characters left out … ")
    if room < 8:
        return text[: max(most - 1, 0)] + "…" if most else ""
    tail = room // 3
    head = text[: room - tail]
    # Up to the end of a word, where one ends nearby.
    words, blank, rest = head.rpartition(" ")
    head = words if blank and len(rest) < len(head) // 8 else head
    left = len(text) - len(head) - tail
    return f"{head} … {left:,} characters left out … {text[len(text) - tail :]}"
