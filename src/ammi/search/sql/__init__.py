"""The parts that the stores on SQL databases, embedded and PostgreSQL, have in common."""
