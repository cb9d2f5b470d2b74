"""A collection as LangChain's vector store and retriever: LangChain's own suites, and what they do not ask."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

pytest.importorskip("langchain_tests")
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.vectorstores import VectorStore
from langchain_tests.integration_tests import RetrieversIntegrationTests, VectorStoreIntegrationTests

import ammi
from ammi.hashers import DocumentHasher
from ammi.langchain import AmmiRetriever, AmmiVectorStore

FAKE = DeterministicFakeEmbedding(size=6)
TEXTS = ["wheat and corn harvest", "corn exports rise", "bank raises loan rate", "loan debt at the bank"]


def of_vectors(folder: Any, **options: Any) -> ammi.Collection:
    itq = ammi.ITQ(64, random_state=0).fit(np.random.default_rng(0).standard_normal((100, 6)))
    return ammi.Collection.create(folder, itq, **options)


@pytest.fixture
def anyio_backend() -> str:
    """What runs the asynchronous tests of the suites."""
    return "asyncio"


@pytest.mark.anyio
class TestVectorStoreOfVectors(VectorStoreIntegrationTests):
    @pytest.fixture
    def vectorstore(self, tmp_path) -> Iterator[VectorStore]:
        with of_vectors(tmp_path / "c", vectors="float16") as collection:
            yield AmmiVectorStore(collection, self.get_embeddings())


@pytest.mark.anyio
class TestVectorStoreOfTexts(VectorStoreIntegrationTests):
    @pytest.fixture
    def vectorstore(self, tmp_path) -> Iterator[VectorStore]:
        model = DocumentHasher(ammi.LSH(64, random_state=0)).fit(["foo new", "bar new", "baz qux"] * 10)
        with ammi.Collection.create(tmp_path / "c", model) as collection:
            yield AmmiVectorStore(collection)


@pytest.mark.anyio
class TestRetriever(RetrieversIntegrationTests):
    retriever_constructor = AmmiRetriever
    retriever_query_example = "loan rate"

    @pytest.fixture(autouse=True)
    def store(self, tmp_path) -> Iterator[None]:
        with ammi.Collection.create(tmp_path / "c", DocumentHasher(ammi.LSH(16, random_state=0)).fit(TEXTS)) as docs:
            docs.add(TEXTS)
            self._store = AmmiVectorStore(docs)
            yield

    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        return {"vectorstore": self._store}


@pytest.fixture
def texts(tmp_path) -> Iterator[AmmiVectorStore]:
    with ammi.Collection.create(tmp_path / "c", DocumentHasher(ammi.LSH(64, random_state=0)).fit(TEXTS)) as collection:
        collection.add([{"text": text, "year": 1987 + n} for n, text in enumerate(TEXTS)])
        yield AmmiVectorStore(collection)


def test_filters_and_ranks_are_those_of_the_collection(texts):
    assert [found.metadata for found in texts.similarity_search("corn", filter={"year": {">": 1987}}, k=1)] == [
        {"year": 1988}
    ]
    by_distance = texts.similarity_search_with_score("corn exports", k=2, rank="distance")
    assert by_distance[0][0].page_content == "corn exports rise"
    hits = texts.collection.search("corn exports", 2, rank="distance")
    assert [score for _, score in by_distance] == [hit.score for hit in hits]
    retriever = AmmiRetriever(vectorstore=texts, k=2, filter={"year": {">": 1988}})
    assert [found.metadata["year"] for found in retriever.invoke("loan")] == [1990, 1989]
    assert len(texts.as_retriever(search_kwargs={"k": 1}).invoke("corn")) == 1
    with pytest.raises(TypeError, match="fetch_k"):
        texts.similarity_search("corn", fetch_k=3)


def test_ids_that_are_numbers_are_found_by_their_text(texts):
    assert [found.id for found in texts.similarity_search("corn exports", k=1)] == ["1"]
    assert texts.get_by_ids(["1", "1", "01"])[0].page_content == "corn exports rise"
    texts.add_documents([Document("corn again", id="1"), Document("corn and more", id="9")])
    assert [entry.id for entry in texts.collection] == [0, 2, 3, "1", "9"]
    texts.delete(["1", "9", "none"])
    assert [entry.id for entry in texts.collection] == [0, 2, 3]
    texts.delete()
    assert len(texts.collection) == 0


def test_relevance_is_a_cosine_of_vectors(tmp_path, texts):
    with of_vectors(tmp_path / "vectors", vectors="float16") as collection:
        store = AmmiVectorStore(collection, FAKE)
        store.add_texts(TEXTS)
        (best, score), *_ = store.similarity_search_with_relevance_scores("corn exports rise", k=4)
        assert (best.page_content, score) == ("corn exports rise", pytest.approx(1, abs=1e-3))
        by_vector = store.similarity_search_by_vector(FAKE.embed_query(TEXTS[2]), k=1)
        assert by_vector[0].page_content == TEXTS[2]
    with pytest.raises(ValueError, match="no relevance from 0 to 1"):
        texts.similarity_search_with_relevance_scores("corn")


def test_a_collection_is_made_of_texts(tmp_path):
    many = [f"{text} {n}" for n in range(30) for text in TEXTS]
    store = AmmiVectorStore.from_texts(many, FAKE, [{"n": n} for n in range(120)], location=str(tmp_path / "c"))
    assert store.collection.n_bits == 256
    assert store.similarity_search(many[7], k=1)[0].metadata == {"n": 7}
    store.collection.close()
    with pytest.raises(ValueError, match="needs a location"):
        AmmiVectorStore.from_texts(many, FAKE)


def test_the_embedding_must_fit_the_collection(texts, tmp_path):
    with pytest.raises(ValueError, match="pass no embedding"):
        AmmiVectorStore(texts.collection, FAKE)
    with of_vectors(tmp_path / "vectors") as collection, pytest.raises(ValueError, match="pass the embedding"):
        AmmiVectorStore(collection)
    with pytest.raises(ValueError, match="came with 1 ids"):
        texts.add_documents([Document("a"), Document("b")], ids=["1"])
