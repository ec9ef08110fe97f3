"""The cost of masking a message: with 0, 5 and 50 known secrets, 1 KB and 100 KB, without any secret and with one.

"known" is what stderr passes, "quotation" (known and shapes) what is quoted in the record and in reports, "learning" is
done once for a call that is quoted. The floor is one regular expression over the message that finds nothing.

python -m benchmarks.mask
"""

import json
import random
import re
import string
from functools import partial

from benchmarks.harness import Report, Way

from toolvet.core.redact import SecretMask

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
    """Return a JSON result of about `size` characters, as tools send them."""
    rows: list[str] = []
    while sum(map(len, rows)) < size:
        row = {"id": rng.randrange(10**6), "title": " ".join(rng.choices(WORDS, k=6)), "url": "https://shop.example/b"}
        rows.append(json.dumps(row))
    return "[" + ", ".join(rows)[:size] + "]"


NOTHING = re.compile(r"\bsk-[A-Za-z0-9]{20,}\b")


def main() -> None:
    rng = random.Random(7)  # noqa: S311 - made-up texts
    with Report("mask") as report:
        for count in (0, 5, 50):
            secrets = ["".join(rng.choices(string.ascii_letters + string.digits, k=32)) for _ in range(count)]
            mask = SecretMask(secrets)
            for size, name in ((1_000, "1 KB"), (100_000, "100 KB")):
                text = message(size, rng)
                bad = f"{text[: size // 2]} {secrets[0] if secrets else 'ghp_' + 'a1' * 18} {text[size // 2 :]}"
                ways = [
                    Way("a quotation", partial(mask.text, text)),
                    Way("a quotation with a secret", partial(mask.text, bad)),
                    Way("known secrets alone", partial(mask.known, text), lost="no secret by its shape"),
                    Way("learning the secrets of a call", partial(SecretMask.learned, text)),
                    Way("one regular expression", partial(NOTHING.sub, "", text), lost="one shape of a secret"),
                ]
                report.compare("Masking a message", f"{name}, {count} known secrets", ways)


if __name__ == "__main__":
    main()
