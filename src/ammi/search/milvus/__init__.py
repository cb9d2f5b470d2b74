"""The store on Milvus: a server or cluster, or a milvus-lite file."""
