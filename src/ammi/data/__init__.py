"""Documents from files and pipes, the published matrices, data sets by name."""

from ammi.data.documents import BadRecordError, Document, read_documents
from ammi.data.imports import IMPORTERS, newsgroups_records, reuters_records
from ammi.data.mat import Benchmark, read_mat
from ammi.data.pairs import ArticlePairs, read_pair_texts, read_pairs, write_pairs
from ammi.data.registry import benchmark, benchmark_names, corpus_names, corpus_path, data_folder, locate
from ammi.data.streams import write_jsonl

__all__ = [
    "IMPORTERS",
    "ArticlePairs",
    "BadRecordError",
    "Benchmark",
    "Document",
    "benchmark",
    "benchmark_names",
    "corpus_names",
    "corpus_path",
    "data_folder",
    "locate",
    "newsgroups_records",
    "read_documents",
    "read_mat",
    "read_pair_texts",
    "read_pairs",
    "reuters_records",
    "write_jsonl",
    "write_pairs",
]
