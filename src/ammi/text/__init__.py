"""Texts to tf-idf matrices, over words or over SentencePiece units."""

from ammi.text.tfidf import Vectorizer
from ammi.text.vectorizers import SentencePieceVectorizer, WordVectorizer, load_vectorizer

__all__ = ["SentencePieceVectorizer", "Vectorizer", "WordVectorizer", "load_vectorizer"]
