"""A product's question about a call, a result or an answer, in its own words → our verdict in its own words.

dialects/*.toml (one table for each product) → dialect (a body ↔ what is asked and answered)
  → answering (of one request), where `GuardrailJudge` finds bad arguments, hidden failures and contradicted answers
  memory: tools that were declared, conversations and sessions under way
"""
