"""One command a file, light to import: `toolvet --help` reads them all, so each loads what it needs when it is run."""
