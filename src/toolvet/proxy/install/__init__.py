"""A client's configuration file ↔ the same file with its servers behind `toolvet proxy`.

install, uninstall (file.py: read, back up, write) → plan_install, plan_uninstall (entries.py: text → text)
  → Edits of the entries (edit.py)
"""

from toolvet.core.exports import lazy

__getattr__, __dir__ = lazy(__name__)
