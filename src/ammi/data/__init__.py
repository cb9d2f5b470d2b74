"""Documents from files, pipes and Python, exports and codes, the published matrices, data sets by name.

What has to do with matrices is loaded on first use, so that reading documents does not wait for scipy.
"""

from typing import TYPE_CHECKING

from ammi.data.codes import CodeFile, KnownCode, holds_codes, read_codes, write_codes
from ammi.data.documents import Document, blocks, content_of, label_column
from ammi.data.exports import write_export
from ammi.data.imports import IMPORTERS, newsgroups_records, reuters_records
from ammi.data.matrices import VectorMatrix
from ammi.data.matrix_files import holds_matrix, read_matrix
from ammi.data.reading import documents_from, read_documents
from ammi.data.registry import benchmark, benchmark_names, corpus_names, corpus_path, data_folder, locate
from ammi.data.rows import BadRecordError
from ammi.data.sampling import Sample, uniform_sample
from ammi.data.splits import every_tenth
from ammi.data.streams import write_jsonl
from ammi.plugins import lazy_names

if TYPE_CHECKING:
    from ammi.data.mat import Benchmark, read_mat
    from ammi.data.pairs import ArticlePairs, describe_pairs, holds_pairs, read_pair_texts, read_pairs, write_pairs

_OF_MATRICES = [
    "ammi.data.mat:Benchmark",
    "ammi.data.mat:read_mat",
    "ammi.data.pairs:ArticlePairs",
    "ammi.data.pairs:describe_pairs",
    "ammi.data.pairs:holds_pairs",
    "ammi.data.pairs:read_pair_texts",
    "ammi.data.pairs:read_pairs",
    "ammi.data.pairs:write_pairs",
]

__all__ = [
    "IMPORTERS",
    "ArticlePairs",
    "BadRecordError",
    "Benchmark",
    "CodeFile",
    "Document",
    "KnownCode",
    "Sample",
    "VectorMatrix",
    "benchmark",
    "benchmark_names",
    "blocks",
    "content_of",
    "corpus_names",
    "corpus_path",
    "data_folder",
    "describe_pairs",
    "documents_from",
    "every_tenth",
    "holds_codes",
    "holds_matrix",
    "holds_pairs",
    "label_column",
    "locate",
    "newsgroups_records",
    "read_codes",
    "read_documents",
    "read_mat",
    "read_matrix",
    "read_pair_texts",
    "read_pairs",
    "reuters_records",
    "uniform_sample",
    "write_codes",
    "write_export",
    "write_jsonl",
    "write_pairs",
]

__getattr__ = lazy_names(__name__, __all__, _OF_MATRICES)
