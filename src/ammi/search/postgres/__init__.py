"""The engine on a PostgreSQL server with pgvector."""
