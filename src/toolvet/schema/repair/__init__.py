"""A value that breaks a schema, or text that is no JSON → the nearest value that was meant, with every step told."""

from toolvet.schema.repair.recovery import Recovered, recover
from toolvet.schema.repair.repair import Repair, repair

__all__ = ["Recovered", "Repair", "recover", "repair"]
