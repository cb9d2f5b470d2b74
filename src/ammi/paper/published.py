"""Figures that others published: the paper's tables, and what its program reaches on this package's matrices."""

TABLE_1: dict[str, dict[str, tuple[float, ...]]] = {  # top-100 precision at 16, 32, 64 and 128 bits, in percent
    "LSH": {
        "tmc_small": (43.93, 45.14, 45.53, 47.73),
        "ng20": (5.97, 6.66, 7.70, 9.49),
        "reuters": (32.15, 38.62, 46.67, 51.94),
    },
    "S-RBM": {
        "tmc_small": (51.08, 51.66, 51.90, 51.37),
        "ng20": (6.04, 5.33, 6.23, 6.42),
        "reuters": (57.40, 61.54, 61.77, 64.52),
    },
    "SpH": {
        "tmc_small": (60.55, 62.81, 61.43, 58.91),
        "ng20": (32.00, 37.09, 31.96, 27.16),
        "reuters": (63.40, 65.13, 62.90, 60.45),
    },
    "STH": {
        "tmc_small": (39.47, 41.05, 41.81, 41.23),
        "ng20": (52.37, 58.60, 58.06, 54.33),
        "reuters": (73.51, 75.54, 73.50, 69.86),
    },
    "VDSH": {
        "tmc_small": (68.53, 71.08, 44.10, 58.47),
        "ng20": (39.04, 43.27, 17.31, 5.22),
        "reuters": (71.65, 77.53, 74.56, 73.18),
    },
    "NASH": {
        "tmc_small": (65.73, 69.21, 65.48, 59.98),
        "ng20": (51.08, 56.71, 50.71, 46.64),
        "reuters": (76.24, 79.93, 78.12, 75.59),
    },
    "GMSH": {
        "tmc_small": (67.36, 70.24, 70.86, 72.37),
        "ng20": (48.55, 53.81, 58.69, 55.83),
        "reuters": (76.72, 81.83, 82.12, 78.46),
    },
    "DVQ": {
        "tmc_small": (71.47, 73.27, 75.17, 76.24),
        "ng20": (47.23, 54.45, 58.77, 62.10),
        "reuters": (79.57, 83.43, 83.73, 86.27),
    },
    "BMSH": {
        "tmc_small": (70.62, 74.81, 75.19, 74.50),
        "ng20": (58.12, 61.00, 60.08, 58.02),
        "reuters": (79.54, 82.86, 82.26, 79.41),
    },
    "AMMI": {
        "tmc_small": (70.96, 74.16, 75.22, 76.27),
        "ng20": (55.18, 59.56, 63.98, 66.18),
        "reuters": (81.73, 84.46, 85.06, 86.02),
    },
    "BMMI": {"tmc_small": (70.52,), "ng20": (49.74,), "reuters": (79.97,)},
}
WIDTHS = (16, 32, 64, 128)
BOW = {"tmc_small": 50.86, "ng20": 9.22, "reuters": 57.62}
AVERAGES = {
    "BOW": 39.23,
    "LSH": 31.79,
    "S-RBM": 39.61,
    "SpH": 51.98,
    "STH": 56.61,
    "VDSH": 53.66,
    "NASH": 64.62,
    "GMSH": 68.07,
    "DVQ": 70.98,
    "BMSH": 71.37,
    "AMMI": 73.23,
}

TABLE_2 = {  # distinct codes of 208,808 training articles, top-100 matching in percent
    "BOW": (208_808, 26.66),
    "BMSH": (208_004, 75.77),
    "DVQ": (208_655, 76.80),
    "AMMI": (153_123, 79.14),
}
TABLE_2_DOCUMENTS = 208_808

PROGRAM = {  # the published AMMI program on this package's matrices, with its authors' settings
    "tmc_small": (72.59, 74.10, 76.26, 77.13),  # at 32 bits with the setting for 64: its own gives 68.62
    "ng20": (54.54, 59.77, 63.32, 65.80),
    "reuters": (76.62, 81.40, 82.45, 83.24),
}

SNUH_PROGRAM = {"tmc_small": 75.58, "ng20": 64.07, "reuters": 84.09}  # the published program of SNUH (2021), 64 bits
LATER = {  # later methods, as published on their authors' own versions of the sets, which are close but not the same
    "SNUH": {
        "tmc_small": (72.5, 75.4, 76.6, 77.3),
        "ng20": (57.8, 63.9, 66.5, 67.3),
        "reuters": (83.2, 84.7, 85.6, 86.2),
    },
    "CorrSH": {
        "tmc_small": (72.4, 75.3, 76.1, 76.3),
        "ng20": (58.4, 61.8, 62.8, 63.6),
        "reuters": (82.1, 84.2, 84.7, 84.8),
    },
}


def precision(row: str, name: str, bits: int) -> float | None:
    """The paper's figure of a line of table 1 on a set at a width, where it has one."""
    figures = dict(zip(WIDTHS, TABLE_1.get(row, {}).get(name, ()), strict=False))
    return figures.get(bits)


def program(name: str, bits: int) -> float | None:
    """The figure of the published program on a set at a width, where there is one."""
    return dict(zip(WIDTHS, PROGRAM.get(name, ()), strict=False)).get(bits)
