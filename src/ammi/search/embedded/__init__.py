"""The store of folders: documents by SQLite, their codes in memory too, for FAISS."""
