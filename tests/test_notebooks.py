"""The notebooks of docs/ run, what they tell is so, and they are kept as they ran."""

import json
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell

NOTEBOOKS = sorted((Path(__file__).parents[1] / "docs" / "notebooks").glob("*.ipynb"))
MOST_BYTES = 500_000

# What each notebook must have found, in its own names.
FACTS = {
    "codes_of_embeddings": """
        assert model.n_bits == 8 * 48 and vectors[0].nbytes == 1536
        assert recalls["codes"][0] > 0.7 and recalls["codes"][1] > 0.98
        assert recalls["numbers of the query"][0] > 0.78
        assert min(ndcg.values()) > 0.95 * ndcg["exact cosine"]
        assert by_size[64][0] < by_size[256][0]
    """,
    "duplicates_of_a_training_set": """
        assert found >= 0.95 * len(made) and wrong <= 3
        assert len(leaks & planted) >= 0.95 * len(planted) and len(leaks - planted) <= 3
        assert accuracies[0] > accuracies[1] + 0.02
    """,
    "from_files_to_answers": """
        assert len(documents) > 1000 and len(unread) == 2  # read by read_documents and by sync
        assert {"archive", "compressed"} & set(hits[0].text.lower().split())
        assert answer.metadata["page"] > 0 and answer.metadata["path"].endswith(".pdf")
        assert len(synced.added) == len(synced.deleted) == 1 and not synced.replaced
        assert herring[0].id == "new.md"
    """,
    "paper_in_ten_minutes": """
        assert abs(by_list - by_recursion) < 1e-9
        assert bounds[0] > bounds[3] > bounds[6] > bounds[9] > exact
        order = ["LSH", "ITQ", "AMMI, the paper's", "AMMI, by default"]
        assert [precisions[name] for name in order] == sorted(precisions[name] for name in order)
        assert precisions["AMMI, by default"] > precisions["ITQ"] + 5
        assert paper.history_[-1]["information"] > paper.history_[0]["information"] + 20
    """,
}


def name(path: Path) -> str:
    return path.stem


@pytest.mark.parametrize("path", NOTEBOOKS, ids=name)
def test_a_notebook_is_kept_as_it_ran(path):
    """From its first cell to its last, once, without an error, a warning or the name of a folder of its author."""
    assert path.stat().st_size < MOST_BYTES
    cells = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    outputs = [output for cell in cells for output in cell.outputs]
    assert len(outputs) >= len(cells) / 2
    assert [one for one in outputs if one.output_type == "error" or one.get("name") == "stderr"] == []
    shown = json.dumps(outputs)
    assert "<script" not in shown
    assert not any(folder in shown for folder in ("/home/", "/root/", "/work/", "site-packages"))


@pytest.fixture(scope="module")
def kernel(tmp_path_factory) -> Iterator[NotebookClient]:
    """A kernel for all notebooks, since each would import torch anew."""
    folder = tmp_path_factory.mktemp("notebooks")
    client = NotebookClient(
        nbformat.v4.new_notebook(),
        timeout=600,
        startup_timeout=600,
        kernel_name="python3",
        resources={"metadata": {"path": str(folder)}},
    )
    with client.setup_kernel():
        yield client


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of the client's sockets
@pytest.mark.parametrize("path", NOTEBOOKS, ids=name)
def test_a_notebook_runs_and_tells_the_truth(path, kernel):
    kernel.nb = nbformat.read(path, as_version=4)
    facts = "\n".join(line.strip() for line in FACTS[path.stem].splitlines())
    kernel.nb.cells = [new_code_cell("%reset -f"), *kernel.nb.cells, new_code_cell(facts)]
    kernel.reset_execution_trackers()
    for index, cell in enumerate(kernel.nb.cells):
        if cell.cell_type == "code":
            kernel.execute_cell(cell, index)
