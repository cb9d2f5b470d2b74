"""How good codes are: precision among the nearest, matching of pairs, distinct codes."""

from ammi.evaluate.retrieval import distinct_codes, matching_at_k, precision_at_k

__all__ = ["distinct_codes", "matching_at_k", "precision_at_k"]
