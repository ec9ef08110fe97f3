"""The verdicts on whole answers, to the byte: a change that is only about speed moves none of them.

A change of phrases, weights or wording does. Then look at what moved, and write the digests again:
`TOOLVET_UPDATE_SNAPSHOTS=1 pytest tests/core/checks/test_verdicts_stay.py`. `benchmarks/verdicts.py` does the same with
thousands of texts, and shows what differs.
"""

import json
import os
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

from toolvet import AnswerCheck, AnswerStream
from toolvet.core.discover.toml import decode_toml

FOLDER = Path(__file__).parent
KEPT = FOLDER / "verdicts.json"
CHECKS = {
    "plain": AnswerCheck(),
    "english": AnswerCheck(languages=["en"]),
    "some": AnswerCheck(languages=["zh", "es", "de"], packs=["medical", "code"], strict=True),
    "own": AnswerCheck(custom_patterns={"refusal": ["however"]}, exceptions={"refusal": ["if you"]}),
}
FRAME = (
    '# Report\n\n{0}\n\n> {0}\n\nHe said "{0}" and left.\n\n```\n{0}\n```\n\n| a | b |\n| {0} | no |\n\nHowever, {0}\n'
)
CHUNK = 23


def texts() -> Iterator[tuple[str, str]]:
    for name in ("asian", "european"):
        table = decode_toml((FOLDER / f"{name}_answers.toml").read_bytes(), dict[str, dict[str, list[str]]])
        for language, by_kind in table.items():
            for kind, answers in by_kind.items():
                for number, answer in enumerate(answers):
                    yield f"{language} {kind} {number}", answer
                yield f"{language} {kind} in a frame", FRAME.format(answers[0])


def digest(text: str) -> str:
    stream = AnswerStream()
    said: dict[str, object] = {name: check(text).to_dict() for name, check in CHECKS.items()}
    said["stream"] = [stream.feed(text[at : at + CHUNK]).to_dict() for at in range(0, len(text), CHUNK)]
    return sha256(json.dumps(said, default=str).encode()).hexdigest()[:16]


def test_the_verdicts_are_those_that_were_kept() -> None:
    found = {name: digest(text) for name, text in texts()}
    if os.environ.get("TOOLVET_UPDATE_SNAPSHOTS"):
        KEPT.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    kept: dict[str, str] = json.loads(KEPT.read_text(encoding="utf-8"))
    assert [name for name in {**kept, **found} if kept.get(name) != found.get(name)] == []
