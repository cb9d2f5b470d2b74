"""Whole runs: learning, comparing and showing, from documents to figures."""
