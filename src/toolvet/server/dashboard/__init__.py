"""The store and the review queue for people and programs: web pages and an HTTP API, served by `toolvet serve`."""
