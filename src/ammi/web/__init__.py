"""A collection over HTTP: the API and the page."""
