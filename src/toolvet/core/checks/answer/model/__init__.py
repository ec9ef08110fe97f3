"""The learned tier: what a small linear model says of a text where the phrases leave it open.

The model knows nothing that a text's beginning and end do not show, and nothing of the turn. Its weights are data
(`weights.bin`, described by `CARD.md`), and `training` makes them from labelled texts.
"""

from toolvet.core.checks.answer.model.classifier import Model, ModelJudgement, judge


def read_model(content: bytes, file: str) -> Model:
    """Return the model in the content of a file that `toolvet review learn` wrote.

    Raises ConfigError, with `file` in its message, where it is damaged or of another format.
    """
    return Model.from_bytes(content, file=file)


__all__ = ["Model", "ModelJudgement", "judge", "read_model"]
