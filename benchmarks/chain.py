"""How much faster the chain's algorithms are than the plain ways to write them, as ratios measured in one run.

Each plain way is checked to give the same value before it is timed; all run on one thread, as training does.
"""

import torch
from rich.console import Console
from rich.table import Table
from torch import Tensor

from ammi import chain
from timing import save, seconds


def four_prior_steps(p: Tensor, prior: Tensor, repeated: bool) -> Tensor:
    """Four gradient steps of an order-3 prior on one batch; its cross entropy after them."""
    q = prior.clone().requires_grad_()
    with torch.no_grad():
        windows = None if repeated else chain.mean_windows(p, 4)
    for _ in range(4):
        if windows is None:  # the prior stands once for each document, and its windows are made again each step
            loss = chain.cross_entropy(p, q.repeat(len(p), 1, 1)).mean()
        else:
            loss = chain.windows_cross_entropy(windows, q)
        (gradient,) = torch.autograd.grad(loss, q)
        q = (q.detach() - 0.1 * gradient).requires_grad_()
    return loss.detach()


def entropy_by_contexts(logits: Tensor) -> Tensor:
    """The entropy by a loop over contexts inside a loop over bits, for a batch (B, m, 2**o)."""
    n_contexts = logits.shape[-1]
    ones, zeros = torch.sigmoid(logits), torch.sigmoid(-logits)
    before = [torch.ones(len(logits))] + [torch.zeros(len(logits))] * (n_contexts - 1)
    total = torch.zeros(len(logits))
    for i in range(logits.shape[1]):
        after = [torch.zeros(len(logits))] * n_contexts
        for c in range(n_contexts):
            for b, prob in ((0, zeros[:, i, c]), (1, ones[:, i, c])):
                mass = before[c] * prob
                total = total - mass * torch.log(prob)
                after[(2 * c + b) % n_contexts] = after[(2 * c + b) % n_contexts] + mass
        before = after
    return total


def entropy_by_gathering(logits: Tensor) -> Tensor:
    """The mixture's entropy from every code's log probability under every document (order 0)."""
    m = logits.shape[1]
    codes = (torch.arange(2**m).unsqueeze(1) >> torch.arange(m - 1, -1, -1)) & 1
    log_probs = torch.stack([chain.log_prob(one, codes) for one in logits])  # (B, 2**m)
    mixture = torch.logsumexp(log_probs, 0) - torch.log(torch.tensor(float(len(logits))))
    return -(mixture.exp() * mixture).sum()


def backward(job, logits: Tensor) -> Tensor:
    leaf = logits.clone().requires_grad_()
    job(leaf).sum().backward()
    assert leaf.grad is not None
    return leaf.grad


def main() -> None:
    torch.set_num_threads(1)  # as training runs
    torch.manual_seed(0)
    p, prior = torch.randn(128, 128, 1), torch.randn(128, 8)
    second, mixture = torch.randn(128, 128, 4), torch.randn(64, 16, 1)
    torch.testing.assert_close(four_prior_steps(p, prior, True), four_prior_steps(p, prior, False))
    torch.testing.assert_close(entropy_by_contexts(second), chain.entropy(second))
    torch.testing.assert_close(entropy_by_gathering(mixture), chain.mixture_entropy(mixture), rtol=1e-4, atol=1e-4)
    rows = [
        (
            "four adversary steps, m = 128, B = 128, r = 3",
            "the prior repeated for each document",
            lambda: four_prior_steps(p, prior, True),
            lambda: four_prior_steps(p, prior, False),
            10,
        ),
        (
            "entropy and gradient, order 2, m = 128, B = 128",
            "a loop over contexts in a loop over bits",
            lambda: backward(entropy_by_contexts, second),
            lambda: backward(chain.entropy, second),
            5,
        ),
        (
            "brute-force entropy, m = 16, B = 64",
            "each code's probability gathered for each document",
            lambda: entropy_by_gathering(mixture),
            lambda: chain.mixture_entropy(mixture),
            50,
        ),
    ]
    table = Table("job", "beside", "plain ms", "ammi ms", "times faster", "wanted")
    results = []
    for job, beside, plain, ours, wanted in rows:
        slow, fast = seconds(plain, 10), seconds(ours, 50)
        results.append(
            {
                "job": job,
                "beside": beside,
                "plain_s": slow,
                "ammi_s": fast,
                "ratio": slow / fast,
                "wanted": wanted,
            }
        )
        table.add_row(job, beside, f"{slow * 1e3:.1f}", f"{fast * 1e3:.2f}", f"{slow / fast:.1f}", f"{wanted}")
    Console().print(table)
    save("chain", results)


if __name__ == "__main__":
    main()
