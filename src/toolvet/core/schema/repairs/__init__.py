"""Repairs: from a value that breaks its schema, or a text that is almost JSON, to the value that was meant.

One broken call, step by step. The schema of `search` wants `query` (a text) and `limit` (an integer up to 50):

    repair(schema, {"Query": "tea", "limit": "10"})

1. The engine reports two violations: the object has an unexpected member and lacks `query`, and `/limit` is a text.
2. `find_repair` asks for one answer for each place, objects first. `members` compares the names: `Query` is `query`
   but for its case, so its answer is to move `/Query` to `/query`, with high confidence.
3. For `/limit`, which is another place, `leaf` collects guesses: it reads "10" as the integer 10 (high), as
   JSON writes numbers. Each guess is checked against the schema; of those that fit, the surest is taken, and two that
   are equally sure refute each other.
4. Both answers are applied, and the value is validated again. Nothing is wrong, so the search ends, otherwise another
   round would follow. A union is searched branch by branch in the same way, each with the same budget (`context`).
5. The result has the value, the operations as a JSON Patch, a sentence for each, and the lowest of their
   confidences, here high.

`recover` and `repair_text` are for texts: `recovery` finds the JSON in a fence or in prose, and reads what JSON does
not allow; `written` adds YAML lines and the schema.
"""

from toolvet.core.schema.repairs.recovery import Recovered, recover, recover_beginning
from toolvet.core.schema.repairs.search import Repair, repair
from toolvet.core.schema.repairs.written import repair_read, repair_text

__all__ = ["Recovered", "Repair", "recover", "recover_beginning", "repair", "repair_read", "repair_text"]
