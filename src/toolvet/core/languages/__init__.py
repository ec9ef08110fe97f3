"""The words of each language, one folder per language: data only, found because it is there.

A folder is named after the language (ISO 639-1, such as `de`; `any` holds what belongs to no language) and contains

    words.toml             parts that the other files share, and how large a gap is
    <signal type>.toml     `refusal`, `confusion`, `low_confidence`, `tool_failure`, `incomplete_reasoning`,
                           `hallucination_risk`: how an answer fails           (read by
    `toolvet.core.checks.answer.phrases`) claims.toml            how an assistant claims to have acted
    (`toolvet.core.turn.ledger.phrases`) extent.toml            how an answer says that this is all
    (`toolvet.core.turn.ledger.extent`) frames.toml            how drafts, stories and letters begin and end
    (`toolvet.core.prose.frame`) steering.toml          how a text of a server steers the model
    (`toolvet.core.poison.steering`)

A language has those that are known of it. All are read by `toolvet.core.matching.phrasebook`; `docs/languages.md` says
how to add or correct one.
"""
