"""What it costs to mask a message: with 0, 5 and 50 known secrets, 1 KB and 100 KB, without any secret and with one.

Prints the median of many rounds in microseconds of processor time: "known" is what stderr passes, "quotation" (known
and shapes) what is quoted in the record and in reports, "learning" is done once for a call that is quoted.
"""

import json
import random
import string
from statistics import median
from time import thread_time

from toolvet.redact import SecretMask

WORDS = [
    "the",
    "book",
    "order",
    "customer",
    "found",
    "shelf",
    "price",
    "of",
    "and",
    "a",
    "title",
    "with",
    "author",
    "page",
]


def message(size: int, rng: random.Random) -> str:
    """Return a JSON result of about so many characters, as tools send them."""
    rows: list[str] = []
    while sum(map(len, rows)) < size:
        row = {"id": rng.randrange(10**6), "title": " ".join(rng.choices(WORDS, k=6)), "url": "https://shop.example/b"}
        rows.append(json.dumps(row))
    return "[" + ", ".join(rows)[:size] + "]"


def timed(work: object, argument: object) -> float:
    """Return the median time of a call, in microseconds."""
    assert callable(work)
    began = thread_time()
    work(argument)
    rounds = max(5, min(300, int(0.2 / max(thread_time() - began, 1e-7))))
    spent = []
    for _ in range(rounds):
        began = thread_time()
        work(argument)
        spent.append(thread_time() - began)
    return median(spent) * 1e6


def main() -> None:
    """Print a table."""
    rng = random.Random(7)  # noqa: S311 - made-up texts
    print("| known secrets | message | known | quotation | quotation with a secret | learning |")
    print("|---|---|---|---|---|---|")
    for count in (0, 5, 50):
        secrets = ["".join(rng.choices(string.ascii_letters + string.digits, k=32)) for _ in range(count)]
        mask = SecretMask(secrets)
        for size, name in ((1_000, "1 KB"), (100_000, "100 KB")):
            text = message(size, rng)
            bad = f"{text[: size // 2]} {secrets[0] if secrets else 'ghp_' + 'a1' * 18} {text[size // 2 :]}"
            figures = (
                timed(mask.known, text),
                timed(mask.text, text),
                timed(mask.text, bad),
                timed(SecretMask.learned, text),
            )
            print(f"| {count} | {name} | " + " | ".join(f"{one:,.1f}" for one in figures) + " |")


if __name__ == "__main__":
    main()
