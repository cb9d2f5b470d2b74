"""Long attacks on what is kept on disk and on what is read: `make torture` runs them, the tests run short ones."""
