"""The learned tier: a small linear model that judges texts that the phrases leave open.

The model sees only the beginning and the end of a text, and nothing of the turn. Its weights are data (`weights.bin`,
described by `CARD.md`), and `training` makes them from labelled texts.
"""

from toolvet.core.checks.answer.model.classifier import Model, ModelJudgement, judge


def read_model(content: bytes, file: str) -> Model:
    """Return the model in the content of a file that `toolvet review learn` wrote.

    Raises ConfigError, with `file` in its message, if the content is damaged or has another format.
    """
    return Model.from_bytes(content, file=file)


__all__ = ["Model", "ModelJudgement", "judge", "read_model"]
