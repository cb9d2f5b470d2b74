"""Batches, adversaries, the loop, early stopping, history and checkpoints."""
