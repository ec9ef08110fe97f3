"""Report formats, one module each: `FORMAT` says its name, its suffix and how it is rendered."""
