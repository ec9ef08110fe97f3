"""A product's question about a call, a result or an answer, in its own words → our verdict in its own words.

dialects/*.toml (one table for each product) → dialect (a body ↔ what is asked and answered)
  → judging (the one core: bad arguments, hidden failures, contradicted answers) → answering (of one request)
  memory: tools that were declared, conversations and sessions under way
"""
