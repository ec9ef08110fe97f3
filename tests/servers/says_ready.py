"""A server that writes its variable SHOP_API_KEY to a file (argv[1]) and then says nothing."""

import os
import sys
from pathlib import Path

Path(sys.argv[1]).write_text(os.environ.get("SHOP_API_KEY", ""), encoding="utf-8")
sys.stdin.read()
