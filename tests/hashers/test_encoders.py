"""`encoder=`: a number of layers, or a network of one's own, for AMMI, BMMI and the autoencoders."""

import json
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch
from sklearn.base import clone
from torch import Tensor, nn

import ammi
from ammi import AMMI, BMMI
from ammi.hashers import BMSH, DVQ, GMSH, NASH, VDSH
from ammi.nets.encoder import FirstLayer, build_network, initialise
from ammi.nets.rows import Rows, to_rows
from ammi.parts import parts, register_part
from tests.conftest import topics

QUICK: dict[str, Any] = {"batch_size": 32, "learning_rate": 0.03, "epochs": 3, "random_state": 0, "verbose": False}
METHODS: list[Callable[..., Any]] = [AMMI, BMMI, BMSH, DVQ, GMSH, NASH, VDSH]
every = pytest.mark.parametrize("method", METHODS, ids=lambda method: method.__name__)


class Tanh(nn.Module):
    """One hidden layer of another shape, which batch normalisation gives a state that no gradient trains."""

    def __init__(self, n_inputs: int, n_outputs: int, width: int):
        super().__init__()
        self.first, self.normal, self.last = (
            FirstLayer(n_inputs, width),
            nn.BatchNorm1d(width),
            nn.Linear(width, n_outputs),
        )
        initialise(self, 0.2)

    def forward(self, rows: Rows) -> Tensor:
        return self.last(torch.tanh(self.normal(self.first(rows))))


def tanh_network(n_inputs: int, n_outputs: int, *, width: int = 12) -> nn.Module:
    return Tanh(n_inputs, n_outputs, width)


@pytest.fixture
def registered() -> Iterator[None]:
    register_part(tanh_network)
    yield
    del parts._registered["tanh_network"]


@every
@pytest.mark.parametrize("layers", [0, 2, np.int64(1)])
def test_a_number_is_that_many_layers(method, layers, tmp_path):
    X, _ = topics(100)
    hasher = method(8, encoder=layers, hidden_size=12, **QUICK).fit(X)
    expected = method(8, hidden_layers=int(layers), hidden_size=12, **QUICK).fit(X)
    assert hasher.fingerprint_ == expected.fingerprint_
    hasher.save(tmp_path / "model")
    assert ammi.load(tmp_path / "model").get_params()["encoder"] == layers


@pytest.mark.parametrize("method", [BMSH, DVQ])
def test_a_number_counts_in_the_predictive_form_as_well(method):
    X, _ = topics(100)
    R, _ = topics(100, seed=1)
    hasher = method(8, encoder=2, hidden_size=12, **QUICK).fit(X, related=R)
    assert hasher.fingerprint_ == method(8, hidden_layers=2, hidden_size=12, **QUICK).fit(X, related=R).fingerprint_


@every
def test_a_network_of_ones_own_learns_and_is_saved_by_its_name(method, registered, tmp_path):
    X, _ = topics(100)
    factory = partial(tanh_network, width=9)
    hasher = method(8, encoder=factory, **QUICK).fit(X)
    assert isinstance(hasher.objective_.encoder, Tanh)
    assert hasher.objective_.encoder.first.weight.shape == (120, 9)
    assert hasher.hyperplanes() is None
    codes = hasher.encode(X)
    assert len(np.unique(codes)) > 1
    hasher.save(tmp_path / "model")
    saved = json.loads((tmp_path / "model" / "config.json").read_text())["parameters"]["encoder"]
    assert saved == {"function": "tanh_network", "arguments": {"width": 9}}
    loaded = ammi.load(tmp_path / "model")
    assert loaded.fingerprint_ == hasher.fingerprint_
    assert np.array_equal(loaded.encode(X), codes)
    assert np.array_equal(loaded.encode(X[:1]), codes[:1])  # batch normalisation is that of all documents
    assert clone(loaded).fit(X).fingerprint_ == hasher.fingerprint_


@every
def test_it_starts_as_it_comes_and_everything_else_is_drawn(method, registered):
    hasher = method(8, encoder=tanh_network, **QUICK)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        made = hasher.objective(120, False)
    largest = max(parameter.abs().max() for parameter in made.encoder.parameters())
    assert 0.19 < largest <= 0.2
    others = [value for name, value in made.named_parameters() if not name.startswith("encoder.")]
    assert all(value.abs().max() <= hasher.init_range for value in others)


@pytest.mark.parametrize("method", [AMMI, BMMI])
@pytest.mark.parametrize("order", [0, 2])
def test_chains_of_any_order_and_pairs(method, order, registered, tmp_path):
    X, _ = topics(100)
    R, _ = topics(100, seed=1)
    hasher = method(6, order=order, encoder=tanh_network, related_encoder="own", **QUICK).fit(X, related=R)
    assert hasher.objective_.encoder.last.out_features == 6 * 2**order
    assert hasher.objective_.related_encoder is not hasher.objective_.encoder
    assert isinstance(hasher.objective_.related_encoder, Tanh)
    hasher.save(tmp_path / "model")
    assert np.array_equal(ammi.load(tmp_path / "model").encode(R), hasher.encode(R))


def test_without_a_name_it_fits_but_is_not_saved(tmp_path):
    X, _ = topics(100)
    hasher = AMMI(8, encoder=tanh_network, **QUICK).fit(X)
    assert hasher.encode(X).shape == (100, 1)
    assert hasher.describe()["encoder"] == "tests.hashers.test_encoders.tanh_network"
    with pytest.raises(ValueError, match=r"tanh_network has no name to be saved by: decorate it with"):
        hasher.save(tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


def test_where_it_is_not_registered_it_is_not_loaded(registered, tmp_path):
    X, _ = topics(100)
    hasher = AMMI(8, encoder=tanh_network, **QUICK).fit(X)
    hasher.save(tmp_path / "model")
    del parts._registered["tanh_network"]  # as in a process that has not imported its module
    with pytest.raises(ValueError, match=r"^the model has the part 'tanh_network', which is not registered: import"):
        ammi.load(tmp_path / "model")
    register_part(tanh_network)
    assert ammi.load(tmp_path / "model").fingerprint_ == hasher.fingerprint_


@pytest.mark.parametrize("encoder", [-1, 101, 2.5, "two", True, [12]])
@every
def test_what_is_no_encoder_is_refused(method, encoder):
    with pytest.raises(ValueError, match=r"encoder must be None, a number of layers from 0 to 100, a torch module"):
        method(8, encoder=encoder, **QUICK).fit(topics()[0])


def test_a_function_that_gives_no_network_is_refused():
    with pytest.raises(ValueError, match=r"gave 7, expected a torch module: return one from it"):
        AMMI(8, encoder=lambda n_inputs, n_outputs: 7, **QUICK).fit(topics()[0])  # type: ignore[arg-type, return-value]


def two_layers(n_inputs: int, n_outputs: int) -> nn.Module:
    """A network that knows nothing of ammi: it reads dense tensors."""
    return nn.Sequential(nn.Linear(n_inputs, 12), nn.BatchNorm1d(12), nn.Tanh(), nn.Linear(12, n_outputs))


ROWS: dict[str, Callable[[], Any]] = {
    "sparse": lambda: topics(100)[0],
    "dense, mostly zeros": lambda: topics(100)[0].toarray(),
    "dense": lambda: topics(100)[0].toarray() + 0.5,
}


@pytest.mark.parametrize("kind", ROWS)
@every
def test_a_plain_torch_network_reads_any_rows(method, kind):
    X = ROWS[kind]()
    hasher = method(8, encoder=two_layers, **QUICK).fit(X)
    codes = hasher.transform(X)
    assert len(np.unique(codes, axis=0)) > 2
    assert np.array_equal(hasher.transform(X[:3]), codes[:3])


def test_a_plain_network_is_the_one_with_a_sparse_first_layer():
    """The same weights give the same logits on dense and on sparse rows, also beyond one block."""
    X, _ = topics(1100)
    sparse = FirstLayer(120, 5)
    plain = nn.Linear(120, 5)
    with torch.no_grad():
        plain.weight.copy_(sparse.weight.T)
        plain.bias.copy_(sparse.bias)
    made = build_network(plain, 120, 5)
    assert made.network is not plain
    rows = to_rows(X, torch.device("cpu"))
    expected = sparse(rows)
    for network in (made.train(), made.eval()):
        torch.testing.assert_close(network(rows), expected)
        torch.testing.assert_close(network(torch.from_numpy(X.toarray())), expected)
    assert build_network(nn.Sequential(sparse, nn.ReLU()), 120, 5)[0].weight.shape == (120, 5)  # type: ignore[index]


def test_a_module_itself_is_copied_and_the_copy_is_trained(tmp_path):
    X, _ = topics(100)
    torch.manual_seed(0)
    network = two_layers(120, 8)
    before = {name: tensor.clone() for name, tensor in network.state_dict().items()}
    hasher = AMMI(8, encoder=network, **QUICK).fit(X)
    assert all(torch.equal(network.state_dict()[name], tensor) for name, tensor in before.items())
    assert clone(hasher).fit(X).fingerprint_ == hasher.fingerprint_
    with pytest.raises(ValueError, match=r"Sequential has no name to be saved by: decorate it"):
        hasher.save(tmp_path / "model")
    with pytest.raises(ValueError, match=r"the encoder gave outputs of shape \(.*, 8\), expected \(rows, 16\)"):
        AMMI(16, encoder=network, first_bits=0, **QUICK).fit(X)


class Empty(nn.Module):
    """A network that somebody forgot to initialise; memory may hold any number."""

    def __init__(self, n_inputs: int, n_outputs: int, number: float):
        super().__init__()
        self.weight = nn.Parameter(torch.full((n_inputs, n_outputs), number))

    def forward(self, rows: Tensor) -> Tensor:
        return rows @ self.weight


@pytest.mark.parametrize("number", [float("nan"), float("inf"), 1e30])
def test_a_network_that_was_not_initialised_is_named(number):
    with pytest.raises(ValueError, match=r"encoder\..*weight has no finite numbers before the first epoch: draw its"):
        AMMI(8, encoder=partial(Empty, number=number), first_bits=0, **QUICK).fit(topics(100)[0])


def test_the_first_layer_comes_initialised_like_those_of_torch():
    torch.manual_seed(0)
    first, second = FirstLayer(400, 30), FirstLayer(400, 30)
    assert 0.049 < first.weight.abs().max() <= 0.05
    assert not torch.equal(first.weight, second.weight)
