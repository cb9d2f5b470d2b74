"""The grid of hyperparameters of each method, and how a trial draws from it."""

from collections.abc import Callable, Mapping

from ammi.tuning.experiments import Parameters, default_parameters

Value = str | int | float | None  # of a hyperparameter
Values = tuple[Value, ...]
Grid = Mapping[str, Values]

_ENTROPY: Grid = {
    "batch_size": (16, 32, 64, 128),
    "learning_rate": (0.03, 0.01, 0.003, 0.001, 0.0003, 0.0001),
    "entropy_weight": (1.0, 1.5, 2.0, 2.5, 3.0, 3.5),
    "init_range": (0.05, 0.1, 0.5),
    "clip": (1.0, 5.0, 10.0),
}
_AUTOENCODER: Grid = {
    "batch_size": (64, 128, 256),
    "learning_rate": (0.03, 0.01, 0.003, 0.001),
    "hidden_layers": (0, 1),
    "hidden_size": (300, 500, 700),
    "dropout": (0.0, 0.2, 0.5),
    "init_range": (0.1, 0.3),
}
_PRIOR_SIZES = (8, 12, 16, 20, 24, 28)
# The ranges of AMMI, BMMI, BMSH and DVQ are the paper's and its program's; docs/paper.md lists where they differ.
GRIDS: dict[str, Grid] = {
    "ammi": {
        **_ENTROPY,
        "adversary": ("exact", "gradient"),
        "adversary_steps": (1, 2, 4),
        "adversary_learning_rate": (0.03, 0.01, 0.003, 0.001),
        "adversary_size": (0, *_PRIOR_SIZES),
        "adversary_layers": (0, 1, 2),
    },
    "bmmi": _ENTROPY,
    "bmsh": {
        "batch_size": (32, 64, 128, 256),
        "learning_rate": (None, 0.01, 0.003, 0.001, 0.0003),
        "hidden_layers": (0, 1, 2),
        "hidden_size": (300, 400, 500, 600, 700),
        "dropout": (0.0, 0.2, 0.5),
        "init_range": (0.05, 0.1, 0.3, 0.5),
        "clip": (1.0, 5.0, 10.0),
        "components": (10, 20, 40, 80),
        "divergence_weight": (0.5, 1.0, 2.0, 3.0),
    },
    "dvq": {
        "batch_size": (32, 64, 128),
        "learning_rate": (0.01, 0.003, 0.001, 0.0003, 0.0001),
        "dimension": (1, 2, 4, 10, 50),
        "commitment": (0.1, 0.25, 0.5, 1.0, 2.0, 4.0),
        "hidden_layers": (0, 1),
        "hidden_size": (100, 200),
        "init_range": (0.05, 0.1, 0.3, 0.5),
        "clip": (1.0, 5.0, 10.0),
    },
    "gmsh": {**_AUTOENCODER, "components": (10, 20, 50), "divergence_weight": (0.5, 1.0, 2.0)},
    "itq": {"iterations": (10, 50, 200)},
    "nash": {**_AUTOENCODER, "divergence_weight": (0.5, 1.0, 2.0)},
    "srbm": {"hidden_size": (300, 500, 700), "noise": (1.0, 4.0, 8.0), "learning_rate": (0.003, 0.001, 0.0003)},
    "sth": {"neighbours": (10, 25, 50), "C": (0.01, 0.1, 1.0, 10.0)},
    "vdsh": {**_AUTOENCODER, "hidden_layers": (1, 2), "warm_up": (1000, 5000)},
}
# Parameters that matter only if another parameter has one of these values.
_MATTERS_ONLY_WITH: dict[str, tuple[str, Values]] = {
    "adversary_steps": ("adversary", ("gradient",)),
    "adversary_learning_rate": ("adversary", ("gradient",)),
    "adversary_size": ("adversary", ("gradient",)),
    "adversary_layers": ("adversary_size", _PRIOR_SIZES),
    "hidden_size": ("hidden_layers", (1, 2)),
    "dropout": ("hidden_layers", (1, 2)),
}


def choose(grid: Grid, fixed: Parameters, choice: Callable[[str, Values], Value]) -> dict[str, Value]:
    """Choose a value for each parameter of the grid that matters, given the fixed ones and those chosen before it."""
    chosen: dict[str, Value] = {}
    for name, values in grid.items():
        if _matters(name, {**fixed, **chosen}):
            chosen[name] = choice(name, values)
    return chosen


def near_defaults(method: str, grid: Grid, fixed: Parameters) -> dict[str, Value]:
    """Return the method's defaults, each moved to the nearest value of the grid."""
    defaults = default_parameters(method)

    def nearest(name: str, values: Values) -> Value:
        default = defaults[name]
        if default in values:
            return default
        return min(values, key=lambda value: abs(float(value or 0) - default))

    return choose(grid, fixed, nearest)


def _matters(name: str, beside: Parameters) -> bool:
    condition, values = _MATTERS_ONLY_WITH.get(name, ("", ()))
    if condition in beside:
        return beside[condition] in values
    return not condition or _matters(condition, beside)
