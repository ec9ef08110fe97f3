"""One folder in, the things in it out: the folder is the list.

Below the drivers, only this room reads the disk: the package's own data files here, and a private cache folder for what
is compiled from them in `toolvet.core.discover.cache`. Only here another process is started, to compile (`background`).
"""

from toolvet.core.exports import lazy

__getattr__, __dir__ = lazy(__name__)
