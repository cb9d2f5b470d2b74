"""Parameters as inherited fields: declared and documented once, checked by their ranges, as scikit-learn wants."""

import inspect
import pickle
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, clone

from ammi import AMMI, BMMI, hashers
from ammi.hashers.base import SizedHasher
from ammi.hashers.parameters import (
    check_parameters,
    declared_parameters,
    estimator,
    in_words,
    parameter,
)

every = pytest.mark.parametrize("name", sorted(hashers.methods.own))


@estimator
class Base(BaseEstimator):
    """A base."""

    size: int = parameter("how many.", default=8, whole=True, least=1, most=9, positional=True)
    rate: float = parameter("how fast.", default=0.5, above=0)
    share: float = parameter("how much.", default=0.25, least=0, below=1)
    kind: str = parameter("which.", default="round", choices=("round", "square"))
    limit: int | None = parameter("at most.", default=None, whole=True, least=0, optional=True)
    anything: Any = parameter("whatever.", default="as it is")
    slow: float = parameter("how slow.", default=1.0, above=0, most=5)
    loud: bool = parameter("whether.", default=False, types=(bool, np.bool_))
    seed: Any = parameter("from where.", default=0, whole=True, least=0, types=(np.random.RandomState,), optional=True)


@estimator
class Derived(Base):
    """Another default, and a parameter of its own."""

    rate: float = 2.0
    size: int = 3
    more: int = parameter("some more.", default=1, whole=True, least=-2)


def test_a_default_may_change_and_all_else_is_inherited():
    assert Derived().get_params() == {
        "size": 3,
        "rate": 2.0,
        "share": 0.25,
        "kind": "round",
        "limit": None,
        "anything": "as it is",
        "slow": 1.0,
        "loud": False,
        "seed": 0,
        "more": 1,
    }
    assert Base().rate == 0.5
    assert declared_parameters(Derived)["rate"] == declared_parameters(Base)["rate"]
    with pytest.raises(ValueError, match="rate must be above 0, got -1"):
        check_parameters(Derived(rate=-1))


def test_only_what_is_positional_needs_no_keyword():
    assert Derived(5).size == 5
    with pytest.raises(TypeError, match="positional argument"):
        Derived(5, 0.1)
    parameters = inspect.signature(Derived).parameters
    assert [name for name, one in parameters.items() if one.kind is one.POSITIONAL_OR_KEYWORD] == ["size"]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"size": 0}, "size must be a whole number from 1 to 9, got 0"),
        ({"size": 10}, "size must be a whole number from 1 to 9, got 10"),
        ({"size": 2.0}, "size must be a whole number from 1 to 9, got 2.0"),
        ({"size": True}, "size must be a whole number from 1 to 9, got True"),
        ({"size": None}, "size must be a whole number from 1 to 9, got None"),
        ({"size": "2"}, "size must be a whole number from 1 to 9, got '2'"),
        ({"rate": 0}, "rate must be above 0, got 0"),
        ({"rate": float("inf")}, "rate must be above 0, got inf"),
        ({"rate": float("nan")}, "rate must be above 0, got nan"),
        ({"share": 1.0}, "share must be from 0 to below 1, got 1.0"),
        ({"share": -0.1}, "share must be from 0 to below 1, got -0.1"),
        ({"kind": "oval"}, "kind must be 'round' or 'square', got 'oval'"),
        ({"limit": -1}, "limit must be a whole number from 0 up, got -1"),
        ({"more": -3}, "more must be a whole number from -2 up, got -3"),
        ({"size": 10**400}, r"size must be a whole number from 1 to 9, got 10000.*"),
        ({"kind": np.array(["round"])}, r"kind must be 'round' or 'square', got array.*"),
        ({"rate": "0.5"}, "rate must be above 0, got '0.5'"),
        ({"slow": 6}, "slow must be above 0 and at most 5, got 6"),
        ({"loud": 1}, "loud must be True or False, got 1"),
        ({"loud": None}, "loud must be True or False, got None"),
        ({"seed": -1}, "seed must be a whole number from 0 up or a RandomState of numpy, got -1"),
        ({"seed": "x"}, "seed must be a whole number from 0 up or a RandomState of numpy, got 'x'"),
    ],
)
def test_values_outside_their_range_are_refused(values, message):
    with pytest.raises(ValueError, match=f"^{message}$"):
        check_parameters(Derived(**values))


@given(
    size=st.integers(1, 9) | st.integers(1, 9).map(np.int64),
    rate=st.floats(0, 1e300, exclude_min=True) | st.floats(0.1, 9).map(np.float32),
    share=st.floats(0, 1, exclude_max=True) | st.just(0),
    kind=st.sampled_from(["round", "square"]),
    limit=st.none() | st.integers(0),
)
def test_values_inside_it_are_taken_and_only_stored(size, rate, share, kind, limit):
    values = {"size": size, "rate": rate, "share": share, "kind": kind, "limit": limit, "anything": [size]}
    made = Derived(**values)
    check_parameters(made)
    assert all(getattr(made, name) is value for name, value in values.items())
    assert vars(clone(made)) == vars(made)
    assert vars(pickle.loads(pickle.dumps(made))) == vars(made)


def test_the_docstring_has_the_first_parameter_then_its_own_then_the_inherited():
    assert inspect.getdoc(Derived) == (
        "Another default, and a parameter of its own.\n\nArgs:\n"
        "    size: how many. Default: 3.\n"
        "    rate: how fast. Default: 2.0.\n"
        "    more: some more. Default: 1.\n"
        "    share: how much. Default: 0.25.\n"
        "    kind: which. Default: 'round'.\n"
        "    limit: at most. Default: None.\n"
        "    anything: whatever. Default: 'as it is'.\n"
        "    slow: how slow. Default: 1.0.\n"
        "    loud: whether. Default: False.\n"
        "    seed: from where. Default: 0."
    )


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, None),
        ("text", "text"),
        (3, 3),
        (0.5, 0.5),
        (True, True),
        (np.int64(3), 3),
        (np.float32(0.5), 0.5),
        (len, "builtins.len"),
        (AMMI, "ammi.hashers.ammi.AMMI"),
        (partial(check_parameters, estimator=1), "ammi.hashers.parameters.check_parameters(estimator=1)"),
        (partial(pow, 2), "builtins.pow(2)"),
        ([1, 2], "[1, 2]"),
    ],
    ids=lambda value: type(value).__name__,  # some values are told by their location in memory
)
def test_values_in_words(value, words):
    assert in_words(value) == words
    assert type(in_words(value)) is type(words)


@every
def test_every_parameter_of_every_method_is_documented_once(name):
    method = hashers.by_name(name)
    about = (inspect.getdoc(method) or "").partition("\nArgs:\n")[2].splitlines()
    documented = [line.strip().split(":")[0] for line in about if not line.startswith(8 * " ")]
    assert sorted(documented) == sorted(method().get_params(deep=False))
    assert all(len(line) <= 112 for line in about)
    for base in method.__mro__[1:]:
        if issubclass(base, SizedHasher):
            shared = declared_parameters(base)
            assert shared.keys() <= declared_parameters(method).keys()


@every
def test_the_length_of_codes_comes_first_and_needs_no_keyword(name):
    method = hashers.by_name(name)
    parameters = list(inspect.signature(method).parameters.values())
    if name == "bow":
        assert parameters == []
        return
    assert parameters[0].name == "n_bits"
    assert method(12).n_bits == 12
    assert all(one.kind is one.KEYWORD_ONLY for one in parameters[1:])


@every
def test_defaults_are_within_their_ranges(name):
    if name != "bow":
        hashers.by_name(name)()._check_parameters()


@every
def test_clones_and_pickles_have_the_same_parameters(name):
    changed = {} if name == "bow" else {"n_bits": 12, "random_state": 7}
    hasher = hashers.by_name(name)(**changed)
    for copy in (clone(hasher), pickle.loads(pickle.dumps(hasher))):
        assert copy.get_params() == hasher.get_params()
        assert str(copy) == str(hasher)


def test_what_a_base_declares_is_not_declared_again_but_where_it_is_another():
    """BMMI has fewer bits than the others; its field says so, and keeps its location."""
    assert declared_parameters(BMMI)["n_bits"].about != declared_parameters(AMMI)["n_bits"].about
    assert BMMI().n_bits == 16
    assert declared_parameters(BMMI)["patience"] is declared_parameters(AMMI)["patience"]


WRONG = [
    -1,
    10**9 + 7,
    10**40,
    1e300,
    -0.5,
    float("nan"),
    float("inf"),
    "nonsense",
    True,
    [1],
    {},
    np.zeros(2),
    object(),
]


@every
@given(data=st.data())
def test_no_value_of_any_parameter_is_more_than_a_sentence(name, data):
    """It is taken, or refused by its name, whatever torch and numpy would say of it."""
    method = hashers.by_name(name)
    if not (names := sorted(method().get_params())):
        return
    chosen = data.draw(st.sampled_from(names))
    told = refusal(method(**{chosen: data.draw(st.sampled_from(WRONG))}))
    assert told is None or (chosen in told and "\n" not in told)


def refusal(hasher: hashers.Hasher) -> str | None:
    """What is said of its parameters, if anything."""
    try:
        hasher._check_parameters()
    except ValueError as error:
        return str(error)
    return None


@pytest.mark.parametrize("device", ["cuda", "cuda:99", "nonsense", "meta", "cpu:", ""])
def test_a_device_that_is_not_there_is_refused(device):
    if device.startswith("cuda") and torch.cuda.is_available() and device != "cuda:99":
        return
    with pytest.raises(ValueError, match=f"device is '{device}', which .*: use 'auto', or 'cpu'"):
        AMMI(device=device).fit(np.eye(4))


@pytest.mark.parametrize(("parameter", "value"), [("n_jobs", -1), ("prior_order", 40), ("n_bits", 10**9)])
def test_what_the_trial_found_is_refused(parameter, value):
    with pytest.raises(ValueError, match=f"{parameter} must be a whole number from"):
        AMMI(**{parameter: value}).fit(np.eye(4))
