"""The learned tier: what a small linear model says of a text where the phrases leave it open.

The model knows nothing that a text's beginning and end do not show, and nothing of the turn. Its weights are data
(`weights.bin`, described by `CARD.md`), and `training` makes them anew from labelled texts.
"""

from toolvet.checks.answer.model.judgement import ModelJudgement, judge

__all__ = ["ModelJudgement", "judge"]
