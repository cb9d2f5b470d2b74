"""Documents from files and pipes, the published matrices, data sets by name."""

from ammi.data.documents import BadRecordError, Document, read_documents
from ammi.data.mat import Benchmark, read_mat
from ammi.data.pairs import ArticlePairs, read_pairs
from ammi.data.registry import benchmark, benchmark_names, corpus_names, corpus_path, data_folder
from ammi.data.streams import write_jsonl

__all__ = [
    "ArticlePairs",
    "BadRecordError",
    "Benchmark",
    "Document",
    "benchmark",
    "benchmark_names",
    "corpus_names",
    "corpus_path",
    "data_folder",
    "read_documents",
    "read_mat",
    "read_pairs",
    "write_jsonl",
]
