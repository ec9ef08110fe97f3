"""Who may ask for what: the host and the page a request comes from, who sends it, and what their role allows."""
