"""Reproduce the paper: plan its experiments, run them, judge its claims, and write the report."""
