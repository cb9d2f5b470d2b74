"""Comparing methods: tasks, experiments whose results are kept, and the search for hyperparameters."""
