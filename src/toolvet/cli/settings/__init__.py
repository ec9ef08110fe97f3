"""`toolvet.toml` (or `[tool.toolvet]` of a pyproject.toml) → settings.

[assess]
timeout = 5
exclude = ["debug_*"]
include = ["create_draft"]     # called, though nothing shows that it only reads

[checks]
ignore = ["parameter-undescribed", "path-leaked:get_file"]

[checks.severity]
unknown-tool-answer = "info"

[checks.answer]                # the options of `check_answer`
packs = ["medical"]

[checks.arguments]
wording = "wording.toml"       # the texts of reports, in another language or voice

[checks.result]                # those of `check_result`, also tool by tool
extra_patterns = ["margin too low"]

[[fixtures.get_book]]          # known good arguments of a tool; more than one is fine
isbn = "978-0141439518"

[hook]                         # coding agents: docs/hooks.md
patience = 3
"""

from toolvet.core.exports import lazy

__getattr__, __dir__ = lazy(__name__)
