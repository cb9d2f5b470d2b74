"""The section of the report on what is not as in the paper or its published programs, and why."""

from reproduction.page import table

ROWS = (
    (
        "sets",
        "TMC, NG20 and Reuters of VDSH's authors; Who-Did-What",
        "rebuilt matrices, a fifth of TMC, other article pairs (below)",
        "the paper's own matrices could not be had",
    ),
    (
        "search",
        "random, an unknown number of trials, to their end",
        "random, the number of trials below, hopeless ones given up early; the best three run again with three seeds",
        "two cores instead of a GPU; some parameters work with the seed of their trial only",
    ),
    (
        "ranges of AMMI",
        "the paper's, α = 0.1; in the program also the adversary's layers and size, α and clip",
        "the paper's with the program's layers, size, clip, and α of 0.05, 0.1 and 0.5; η' at most 0.03, as the paper",
        "both are the authors'; the program's batches of 256 are left out, as in the paper",
    ),
    (
        "ranges of BMSH and DVQ",
        "the program's: η from 0.003 to 0.00001, no dropout, batches from 16",
        "η from 0.01 to 0.0003 (DVQ 0.0001), BMSH also with dropout and β 0.5, batches from 32",
        "lower rates do not end within 40 epochs of these sets; the additions were better in earlier runs, so that "
        "they favour AMMI's rivals",
    ),
    (
        "DVQ's D",
        "50, or as many as 40 million decoder weights allow",
        "1, 2, 4, 10 or 50, as far as 40 million weights allow",
        "time: a step of 46 million weights takes a second here",
    ),
    (
        "DVQ's codebooks",
        "by gradient or by moving averages, searched for",
        "by gradient",
        "not written",
    ),
    (
        "BMSH's encoders",
        "one network for bits, one for components; a third predicts noise that is added to the code",
        "one network for bits and components; no noise",
        "the noise made no difference in a trial (LOG.md)",
    ),
    (
        "BMSH's conditional prior (table 2)",
        "linear in the words, logits cut at ±1",
        "a hidden layer, logits cut at ±1",
        "linear it would have up to 200 million weights",
    ),
    (
        "Adam of the adversary",
        "the paper does not say; the program makes a new one for each batch",
        "as the program",
        "",
    ),
    (
        "initial biases",
        "uniform in ±α in the paper, 0 in the program",
        "as the paper",
        "",
    ),
    (
        "figure 1 (a)",
        "one partly trained BMMI, full tuning of the prior",
        "a BMMI after two epochs for each seed; the prior in closed form, and the best of six settings of gradients",
        "the closed form is the optimum of all settings",
    ),
    (
        "LSH to GMSH",
        "figures of earlier papers",
        "this package's own versions, at their defaults, one seed",
        "no claim rests on them",
    ),
)


def deviations_section() -> list[str]:
    return [
        "## Where this differs from the paper and its programs",
        "The rest of the searched methods is as the paper or its published programs have it.",
        table(("what", "the paper and its programs", "here", "why"), ROWS),
    ]
