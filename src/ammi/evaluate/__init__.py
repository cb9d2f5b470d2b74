"""How good codes are: precision among the nearest, whole rankings, matching of pairs, distinct codes, drift."""

from ammi.evaluate.drift import Step, drift
from ammi.evaluate.labels import LabelledPrecision, label_matrix, labelled_precision
from ammi.evaluate.ranking import RankingScores, ranking_scores
from ammi.evaluate.retrieval import distinct_codes, leave_one_out_precision, matching_at_k, precision_at_k

__all__ = [
    "LabelledPrecision",
    "RankingScores",
    "Step",
    "distinct_codes",
    "drift",
    "label_matrix",
    "labelled_precision",
    "leave_one_out_precision",
    "matching_at_k",
    "precision_at_k",
    "ranking_scores",
]
