"""Documents from files and pipes, the published matrices, data sets by name."""

from ammi.data.mat import Benchmark, read_mat
from ammi.data.registry import benchmark, benchmark_names, corpus_names, corpus_path, data_folder

__all__ = [
    "Benchmark",
    "benchmark",
    "benchmark_names",
    "corpus_names",
    "corpus_path",
    "data_folder",
    "read_mat",
]
