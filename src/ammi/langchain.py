"""A collection as a LangChain vector store and retriever.

A collection of texts has a model of its own and needs no embeddings: it answers by words and codes. A collection whose
model reads vectors needs the Embeddings that make them, of documents and of questions.
"""

from collections.abc import Callable, Sequence
from typing import Any, Self
from uuid import uuid4

from ammi.collection import Collection
from ammi.data import Document as Stored
from ammi.search import Entry, Hit

try:
    from langchain_core.callbacks import CallbackManagerForRetrieverRun
    from langchain_core.documents import Document
    from langchain_core.embeddings import Embeddings
    from langchain_core.retrievers import BaseRetriever
    from langchain_core.vectorstores import VectorStore
except ImportError as error:
    raise ImportError(
        f"a vector store for LangChain needs langchain-core ({error}): pip install 'ammi[langchain]'"
    ) from error

_BITS = 256  # of vectors, as `ammi index build` takes
_K = 4  # as LangChain's other stores


class AmmiVectorStore(VectorStore):
    """A vector store over a collection, which stays open as long as its owner keeps it open.

    Searches take `filter`, which is the collection's `where`, such as {"year": {">=": 1987}}, and its `rank` and
    `shortlist`. Ids are texts; those that the collection has as numbers are shown as texts.

    Args:
        collection: an open collection, of texts or of vectors.
        embedding: makes the vectors of documents and questions, where the collection's model reads vectors.
    """

    def __init__(self, collection: Collection, embedding: Embeddings | None = None):
        if (collection.reads == "vector") != (embedding is not None):
            raise ValueError(
                "the collection's model reads vectors: pass the embedding that makes them"
                if embedding is None
                else "the collection's model reads texts and makes its own codes: pass no embedding"
            )
        self.collection = collection
        self._embedding = embedding

    @classmethod
    def from_texts(
        cls,
        texts: list[str],
        embedding: Embeddings | None = None,
        metadatas: list[dict[str, Any]] | None = None,
        *,
        ids: list[str] | None = None,
        location: str = "",
        **options: Any,
    ) -> Self:
        """Create a collection of texts and open it; a model is learned from them.

        Args:
            texts: from a hundred up, so that there is something to learn.
            embedding: makes vectors of the texts, of which ITQ makes 256 bits; the vectors are kept in float16. None:
                AMMI makes 64 bits of their words.
            metadatas: for each text.
            ids: for each text; by default random ones.
            location: a folder, or the URL of another store.
            options: further arguments of `Collection.create`.
        """
        from ammi.hashers import AMMI, ITQ, DocumentHasher, Hasher

        if not location:
            raise ValueError('the collection needs a location: pass location="FOLDER"')
        model: Hasher | DocumentHasher
        if embedding is None:
            model = DocumentHasher(AMMI(64, random_state=0, verbose=False)).fit(texts)
        else:
            model = ITQ(_BITS, random_state=0).fit(embedding.embed_documents(texts))
            options = {"vectors": "float16", **options}
        store = cls(Collection.create(location, model, **options), embedding)
        store.add_texts(texts, metadatas, ids=ids)
        return store

    @property
    def embeddings(self) -> Embeddings | None:
        return self._embedding

    def add_documents(self, documents: list[Document], **options: Any) -> list[str]:
        """Add documents, or replace those with their ids; those without an id get a random one."""
        given = options.pop("ids", None) or [document.id for document in documents]
        if options:
            raise TypeError(f"add_documents takes no {', '.join(options)}: name documents and ids")
        if len(given) != len(documents):
            raise ValueError(f"{len(documents)} documents came with {len(given)} ids: pass one for each")
        ids = [id or str(uuid4()) for id in given]
        texts = [document.page_content for document in documents]
        vectors = self._embedding.embed_documents(texts) if self._embedding and texts else [None] * len(texts)
        rows = zip(ids, texts, documents, vectors, strict=True)
        self.collection.add(Stored(id, text, document.metadata, vector=vector) for id, text, document, vector in rows)
        return ids

    def delete(self, ids: list[str] | None = None, **options: Any) -> bool:
        """Delete the documents of these ids, or all; ids that are not there are ignored."""
        self.collection.delete([entry.id for entry in self.collection] if ids is None else self._there(ids))
        return True

    def get_by_ids(self, ids: Sequence[str], /) -> list[Document]:
        """Return the documents that there are of these ids."""
        return list(map(_document, self.collection.get(self._there(ids))))

    def similarity_search(self, query: str, k: int = _K, **options: Any) -> list[Document]:
        """Return the k documents that answer a question best; `options` are filter, rank and shortlist."""
        return [document for document, _ in self.similarity_search_with_score(query, k, **options)]

    def similarity_search_with_score(self, query: str, k: int = _K, **options: Any) -> list[tuple[Document, float]]:
        """Return these documents, the best first, with scores: cosines of vectors, or scores of words and codes."""
        return self._found(self._embedding.embed_query(query) if self._embedding else query, k, **options)

    def similarity_search_by_vector(self, embedding: list[float], k: int = _K, **options: Any) -> list[Document]:
        """Return the k documents whose vectors have the highest cosine with this one."""
        return [document for document, _ in self._found(embedding, k, **options)]

    def _found(
        self, query: str | list[float], k: int, *, filter: dict[str, Any] | None = None, **options: Any
    ) -> list[tuple[Document, float]]:
        hits = self.collection.search(query, k, where=filter, **options)
        return [(_document(hit), hit.score) for hit in hits]

    def _select_relevance_score_fn(self) -> Callable[[float], float]:
        if self._embedding is None:
            raise ValueError(
                "the scores of words and codes have no upper bound, so there is no relevance from 0 to 1: use "
                "similarity_search_with_score"
            )
        return lambda cosine: min(max(cosine, 0.0), 1.0)

    def _there(self, ids: Sequence[str]) -> list[str]:
        return [id for id in dict.fromkeys(ids) if id in self.collection]


class AmmiRetriever(BaseRetriever):
    """A retriever over a vector store of ammi: the k documents that answer a question best."""

    vectorstore: AmmiVectorStore
    k: int = _K
    filter: dict[str, Any] | None = None

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, **options: Any
    ) -> list[Document]:
        return self.vectorstore.similarity_search(query, **{"k": self.k, "filter": self.filter, **options})


def _document(found: Hit | Entry) -> Document:
    return Document(id=str(found.id), page_content=found.text or "", metadata=found.metadata)
