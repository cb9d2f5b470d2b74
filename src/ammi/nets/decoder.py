"""The word decoder of the autoencoders: a distribution over the vocabulary from which a document's words are drawn.

    log p(x|z) = Σ over the words v of x of log softmax(z E + b)_v

The words of a batch are a list of positions in its (B, V) scores; they are never expanded to a matrix.
"""

from typing import Any

import torch
from torch import Tensor, nn

from ammi.nets.rows import Rows


class WordDecoder(nn.Module):
    """A module from codes (B, n_inputs) to the log probability of the words of documents."""

    def __init__(self, n_inputs: int, n_words: int):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(n_inputs, n_words))
        self.bias = nn.Parameter(torch.empty(n_words))

    def forward(self, z: Tensor, rows: Rows) -> Tensor:
        """Return log p(x|z) of each row, each of its words counted once, in nats (B,)."""
        return _LogProbability.apply(z, self.weight, self.bias, *words(rows))


def words(rows: Rows) -> tuple[Tensor, Tensor]:
    """Return the words of documents, the columns above 0, as two (n,) tensors: document and column of each."""
    if isinstance(rows, Tensor):
        document, word = (rows > 0).nonzero().T
        return document, word
    starts, indices, values = rows.by_row
    document = torch.arange(len(starts) - 1, device=starts.device).repeat_interleave(starts.diff())
    return document[values > 0], indices[values > 0].long()


class _LogProbability(torch.autograd.Function):
    """log p(x|z). Its gradient by the scores, 1 at each word - n softmax, needs one (B, V) matrix kept, not two."""

    @staticmethod
    def forward(ctx: Any, z: Tensor, weight: Tensor, bias: Tensor, document: Tensor, word: Tensor) -> Tensor:
        scores = torch.addmm(bias, z, weight)
        scores -= scores.amax(1, keepdim=True)
        n = torch.bincount(document, minlength=len(z)).to(z.dtype)
        chosen = torch.zeros_like(n).index_add_(0, document, scores[document, word])
        odds = scores.exp_()
        total = odds.sum(1)
        ctx.save_for_backward(z, weight, odds, n / total, document, word)
        return chosen - n * total.log()

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        z, weight, odds, scale, document, word = ctx.saved_tensors
        by_scores = odds * (-gradients[0] * scale)[:, None]
        by_scores.index_put_((document, word), gradients[0][document], accumulate=True)
        return by_scores @ weight.T, z.T @ by_scores, by_scores.sum(0), None, None
