"""Documents from files, pipes and Python, exports and codes, matrices of vectors, data sets by name.

Pairs and the published matrices are in `ammi.data.pairs` and `ammi.data.mat`: they need scipy.
"""

from ammi.data.codes import CodeFile, KnownCode, holds_codes, read_codes, write_codes
from ammi.data.documents import Document, blocks, content_of, label_column
from ammi.data.exports import write_export
from ammi.data.imports import IMPORTERS, newsgroups_records, reuters_records
from ammi.data.matrices import VectorMatrix
from ammi.data.matrix_files import holds_matrix, read_matrix
from ammi.data.reading import documents_from, read_documents
from ammi.data.registry import benchmark, benchmark_names, corpus_names, corpus_path, data_folder, locate
from ammi.data.rows import BadRecordError
from ammi.data.sampling import Sample, every_tenth, uniform_sample
from ammi.data.streams import write_jsonl

__all__ = [
    "IMPORTERS",
    "BadRecordError",
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
    "documents_from",
    "every_tenth",
    "holds_codes",
    "holds_matrix",
    "label_column",
    "locate",
    "newsgroups_records",
    "read_codes",
    "read_documents",
    "read_matrix",
    "reuters_records",
    "uniform_sample",
    "write_codes",
    "write_export",
    "write_jsonl",
]
