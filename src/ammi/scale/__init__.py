"""Encoding, loading, tuning and training on a Ray cluster: Ray schedules, retries and moves data, this says what."""
