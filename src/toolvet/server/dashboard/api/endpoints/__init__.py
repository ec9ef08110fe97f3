"""The endpoints of the API: each file has a tuple `ENDPOINTS`, and is found because it is here."""
