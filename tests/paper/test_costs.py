"""What it cost: the sum over all searches and runs of the plan."""

from reproduction.costs import costs_section
from reproduction.folder import PaperFolder, all_searches
from tests.paper.made_up import SCALE, all_experiments, finalists


def test_costs_are_the_sum_of_all_files(complete):
    text = "\n\n".join(costs_section(complete))
    plan = complete.plan()
    experiments = [*all_experiments(plan), *finalists(complete)]
    trials, runs = 3 * len(all_searches(plan)), len({experiment.path for experiment in experiments})
    assert f"{trials} trials in {trials / 2:.2f} hours and {runs} runs in {runs / 2:.2f} hours" in text
    assert "| ng20 | dvq | 32 | 3 | 1 | 1 | 75.70 | 1.50 | batch\\_size 32 |" in text
    assert r"Machine: a \| b, 2 cores, Python 3.11, ammi 0.1. Runs of 2020-01-01." in text


def test_there_is_nothing_to_count_before_the_first_experiment(tmp_path):
    text = "\n\n".join(costs_section(PaperFolder(tmp_path, SCALE)))
    assert "0 trials in under 0.01 hours and 0 runs in under 0.01 hours" in text
    assert "No search was run yet: `ammi paper table1`." in text
