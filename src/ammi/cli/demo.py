"""`ammi demo`: the exact entropy of a random chain beside a sampled estimate of it."""

import math

import typer
from rich.console import Console
from rich.table import Table


def demo(
    bits: int = typer.Option(64, min=1, help="Length of the codes."),
    samples: int = typer.Option(20_000, min=2, help="Codes sampled for the estimate."),
    seed: int = typer.Option(0, help="Seed of the chains and the samples."),
) -> None:
    """Compute the entropy of random Markov chains over 2^BITS codes exactly, and estimate it by sampling."""
    import torch

    from ammi import MarkovBits

    torch.manual_seed(seed)
    table = Table(title=f"Entropy over 2^{bits} codes, in bits")
    for column in ("order", "exact", f"from {samples:,} samples", "± standard error"):
        table.add_column(column, justify="right")
    for order in range(4):
        chain = MarkovBits(2 * torch.randn(bits, 2**order))
        surprise = -chain.log_prob(chain.sample((samples,))) / math.log(2)
        exact = chain.entropy().item() / math.log(2)
        error = surprise.std().item() / math.sqrt(samples)
        table.add_row(str(order), f"{exact:.4f}", f"{surprise.mean().item():.4f}", f"{error:.4f}")
    Console().print(table)
