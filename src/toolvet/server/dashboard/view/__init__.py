"""What pages show: periods, figures beside those before, charts, marked texts, JSON, and the paths of pages."""
