"""The store on a PostgreSQL server with pgvector."""
