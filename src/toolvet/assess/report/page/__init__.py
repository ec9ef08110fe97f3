"""The HTML page: its template, style sheet and script, and what the template is given."""
