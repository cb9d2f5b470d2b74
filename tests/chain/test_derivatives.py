"""First and second derivatives of the chain's quantities, and torch.func transforms, against brute force."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.autograd import gradcheck, gradgradcheck
from torch.distributions import kl_divergence
from torch.func import grad, hessian, jacfwd, jacrev, vmap

from ammi import MarkovBits, chain
from tests import oracles
from tests.chain.test_chain import close, random_logits

# Forward mode compiles some of torch's own decompositions by the old torch.jit when it is first used.
pytestmark = pytest.mark.filterwarnings("ignore:.torch.jit.script:DeprecationWarning")

Q = random_logits(1, 4, 8)
TREE = (-1, 0, 0, 1)
# Functions of one chain p (4, 2**o): all that MarkovBits answers and the entropies are made of.
QUANTITIES = {
    "entropy": lambda p: MarkovBits(p).entropy(),
    "from probs": lambda p: MarkovBits(probs=p.sigmoid()).entropy(),
    "cross entropy": lambda p: MarkovBits(p).cross_entropy(MarkovBits(Q)),
    "divergence": lambda p: kl_divergence(MarkovBits(p), MarkovBits(Q)),
    "log_prob": lambda p: MarkovBits(p).log_prob(torch.tensor([0, 1, 1, 0])),
    "all codes": lambda p: MarkovBits(p).log_prob(MarkovBits(p).enumerate_support()),
    "mean": lambda p: MarkovBits(p).mean,
    "marginals": lambda p: MarkovBits(p).marginals(3),
    "condition": lambda p: MarkovBits(p).condition(torch.tensor([-1, -1, 1, -1])).entropy(),
    "forward": chain.forward,
    "pairs": lambda p: chain.pair_marginals(p, [0, 1, -1], [3, 2, 2]),
    "mixture": lambda p: chain.mixture_entropy(torch.stack((p, -p))),
    "upper bound": lambda p: chain.prior_cross_entropy(torch.stack((p, -p)), Q),
    "best prior": lambda p: chain.best_prior(chain.mean_windows(p, 3)),
    "tree": lambda p: chain.Tree(4, TREE).read(p.repeat(1, 2)[:, :2]).entropy(),
}
every_quantity = pytest.mark.parametrize("quantity", QUANTITIES.values(), ids=QUANTITIES)


@pytest.mark.parametrize("m", [1, 2, 5])
@pytest.mark.parametrize("o", [0, 1, 2, 3])
def test_gradients_to_second_order_in_both_modes(o, m):
    p, q = random_logits(o, 2, m, 2**o).requires_grad_(), random_logits(9, m, 4).requires_grad_()
    for function in (chain.entropy, chain.mixture_entropy, lambda p: chain.window_marginals(p, 3)):
        assert gradcheck(function, (p,), check_forward_ad=True, fast_mode=True)
        assert gradgradcheck(function, (p,), fast_mode=True)
    for pair in (chain.cross_entropy, chain.kl_divergence, chain.prior_cross_entropy):
        assert gradgradcheck(pair, (p, q), fast_mode=True)


@settings(max_examples=15, deadline=None)
@given(m=st.integers(1, 5), o=st.integers(0, 3), seed=st.integers(0, 2**32 - 1))
def test_second_derivatives_are_those_of_brute_force(m, o, seed):
    p, v, q = (random_logits(seed + i, m, 2**o, scale=1.0) for i in range(3))
    for ours, twin in (
        (chain.entropy, oracles.entropy),
        (lambda p: chain.cross_entropy(p, q), lambda p: oracles.cross_entropy(p, q.numpy())),
        (lambda p: chain.mixture_entropy(torch.stack((p, q))), lambda p: oracles.mixture_entropy(np.stack((p, q)))),
    ):
        table = torch.autograd.functional.hessian(ours, p).reshape(v.numel(), v.numel())
        curvature = v.flatten() @ table @ v.flatten()
        expected = oracles.curvature(twin, p.numpy(), v.numpy())
        assert curvature.item() == pytest.approx(expected, rel=1e-5, abs=1e-5)


def test_third_derivatives():
    p = random_logits(0, 3, 2).requires_grad_()

    def gradient(p):
        return torch.autograd.grad(chain.entropy(p), p, create_graph=True)[0]

    assert gradgradcheck(gradient, (p,))


def test_second_derivatives_of_a_mixture_in_blocks():
    p = random_logits(0, 2, 4, 2).requires_grad_()
    assert gradgradcheck(lambda p: chain.mixture_entropy(p, codes_at_once=2**2), (p,), fast_mode=True)


@every_quantity
@pytest.mark.parametrize("o", [0, 2])
def test_every_quantity_under_the_transforms_of_torch_func(quantity, o):
    chains = random_logits(3, 3, 4, 2**o)
    one_by_one = torch.stack([quantity(p) for p in chains])
    assert close(vmap(quantity)(chains), one_by_one)
    assert close(vmap(vmap(quantity))(chains.unsqueeze(1)), one_by_one.unsqueeze(1))
    jacobians = torch.stack([torch.autograd.functional.jacobian(quantity, p) for p in chains])
    assert close(vmap(jacrev(quantity))(chains), jacobians)
    assert close(jacfwd(quantity)(chains[0]), jacobians[0])

    def total(p):
        return quantity(p).sum()

    assert close(vmap(grad(total))(chains), jacobians.reshape(3, -1, *chains.shape[1:]).sum(1))
    assert close(hessian(total)(chains[1]), torch.autograd.functional.hessian(total, chains[1]))


def test_vmap_over_one_of_two_arguments():
    p, several = random_logits(0, 5, 2), random_logits(1, 3, 5, 4)
    assert close(vmap(chain.cross_entropy, (None, 0))(p, several), chain.cross_entropy(p, several))
    assert close(vmap(chain.cross_entropy, (0, None))(several, p), chain.cross_entropy(several, p))
    assert close(vmap(chain.entropy, 2)(several.movedim(0, 2)), chain.entropy(several))


def test_samples_and_modes_under_vmap():
    chains = random_logits(0, 3, 6, 2)
    modes = vmap(lambda p: MarkovBits(p).mode)(chains)
    assert torch.equal(modes, MarkovBits(chains).mode)
    samples = vmap(lambda p: MarkovBits(p).sample((4,)), randomness="different")(chains)
    assert samples.shape == (3, 4, 6)


def test_values_are_checked_inside_grad_and_cannot_be_inside_vmap():
    wrong = torch.full((2, 4, 2), torch.nan)
    with pytest.raises(ValueError, match="must be finite"):
        grad(lambda p: MarkovBits(p).entropy().sum())(wrong)
    assert vmap(lambda p: MarkovBits(p).entropy())(wrong).isnan().all()
