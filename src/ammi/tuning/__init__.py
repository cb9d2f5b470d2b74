"""Compare methods: tasks, experiments with their results, and the search for hyperparameters."""
