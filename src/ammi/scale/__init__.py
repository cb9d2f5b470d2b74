"""Encode, load and tune on a Ray cluster. Ray schedules, retries and moves data."""
