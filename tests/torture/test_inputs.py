"""A few of the strange inputs of `inputs`, the same ones every time; and that nothing public is left out of them."""

import inspect
from types import ModuleType

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from ammi import Collection, DocumentHasher, HammingIndex, MarkovBits, chain, data, evaluate, features, hashers, search
from tests.torture.command_lines import COMMANDS, SHORT
from tests.torture.inputs import CALLS, Input, inputs, try_one
from tests.torture.template import workplace

# What is tried through something else, or has nothing to try: types of values, errors, constants, what others inherit.
ASIDE = {
    "chain": {"MAX_BRUTE_FORCE_BITS", "Chain", "ChainDistributions", "Distributions", "MarkovBits", "Structure", "Tree"}
    | {"TreeDistributions"},
    "data": {"BadRecordError", "CodeFile", "Document", "IMPORTERS", "KnownCode", "Sample", "VectorMatrix"},
    "evaluate": {"LabelledPrecision", "RankingScores", "Step"},
    "features": {"FeatureMaker", "features"},
    "hashers": {"DocumentHasher", "Hasher", "TrainedHasher", "methods"},
    "search": {"DamagedError", "Entry", "HammingIndex", "Hit", "Hits", "Id", "Store", "KeptVectors", "OtherModelError"}
    | {"Repaired", "Restored", "Upgraded", "Why"},
}
METHODS_ASIDE: dict[type, set[str]] = {
    # What a server calls, what computes a map for seconds, and what looks for the Hub.
    Collection: {"add_once", "close", "map", "push_to_hub", "topics"},
    # What Collection calls for `rebuild`, `search` and `add`.
    HammingIndex: {
        "add_records",
        "close",
        "count_words",
        "metadata_blocks",
        "once",
        "optimize",
        "outcome",
        "recode",
        "search_ranked",
        "snapshot",
        "word_counts",
    },
    DocumentHasher: {"describe", "encode_rows", "push_to_hub", "rows", "score"},  # parts of `encode`; LSH has no score
    MarkovBits: set(),
    chain.ChainDistributions: {"cross_entropy", "halves", "mean"},
    chain.TreeDistributions: {"halves", "mean"},
}


@pytest.fixture(scope="module")
def location():
    with workplace() as location:
        yield location


@settings(
    max_examples=20,
    derandomize=True,
    database=None,
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
@given(one=inputs)
def test_every_input_ends_well_or_with_a_sentence(one: Input, location):
    for attempt in one.attempts:
        judged = try_one(attempt, one.name, one.content, location)
        assert judged.wrong is None, f"{attempt} {one.name} {one.content!r:.500}"


def test_every_command_is_tried():
    assert set(SHORT) == set(COMMANDS), "say in SHORT how often, and with what that keeps it short"


@pytest.mark.parametrize("room", [chain, data, evaluate, features, hashers, search])
def test_every_public_function_is_tried(room: ModuleType):
    name = room.__name__.removeprefix("ammi.")
    tried = {call.removeprefix(f"{name}.") for call in CALLS if call.startswith(f"{name}.")}
    assert set(room.__all__) - tried == ASIDE[name]


@pytest.mark.parametrize("kind", METHODS_ASIDE)
def test_every_public_method_is_tried(kind: type):
    members = inspect.getmembers(kind, callable)
    ours = {name for name, member in members if str(getattr(member, "__module__", "")).startswith("ammi")}
    tried = {call.removeprefix(f"{kind.__name__}.") for call in CALLS if call.startswith(f"{kind.__name__}.")}
    assert {name for name in ours if not name.startswith("_")} - tried == METHODS_ASIDE[kind]
