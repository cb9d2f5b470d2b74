"""Tasks that are learned in a second, and one that needs no learning."""

from scipy.sparse import csr_matrix

from ammi.data.pairs import ArticlePairs
from ammi.tuning.tasks import LabelledTask, Task
from tests.conftest import topics

SHORT = {"epochs": 1, "neighbours": 0}


def small_task(seed: int = 0) -> LabelledTask:
    X, labels = topics(300, seed=seed)
    parts = slice(0, 200), slice(200, 250), slice(250, 300)
    return LabelledTask([X[part] for part in parts], [labels[part] for part in parts])


def small_pairs(seed: int = 0) -> ArticlePairs:
    X, _ = topics(420, seed=seed)
    noise, _ = topics(420, seed=seed + 1)
    Y = csr_matrix(X + 0.1 * noise)
    parts = slice(0, 200), slice(200, 310), slice(310, 420)
    return ArticlePairs(*((X[part], Y[part]) for part in parts))


class Scripted(Task):
    """No learning: ten epochs whose scores rise with the learning rate."""

    documents = None

    def fingerprint(self):
        return "scripted"

    def fit(self, hasher, watch=lambda score: None):
        for epoch in range(10):
            watch(self.validation(hasher) + epoch / 100)

    def validation(self, hasher):
        return (hasher.learning_rate or 0) * 1000

    def test(self, hasher):
        raise AssertionError("a search does not look at the test part")
