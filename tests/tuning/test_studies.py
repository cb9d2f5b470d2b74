"""Optuna's studies: kept where the URL says, drawn from as the seed says, and closed."""

import psutil
import pytest

from ammi.tuning.studies import close_storage, new_sampler, open_storage, open_study


def draws(kind, seed: tuple[int, int]) -> list[float]:
    import optuna

    study = optuna.create_study(sampler=new_sampler(kind, seed))
    return [study.ask().suggest_float("x", 0, 1) for _ in range(5)]


@pytest.mark.parametrize("kind", ["random", "tpe"])
def test_a_sampler_is_decided_by_both_parts_of_its_seed(kind):
    assert draws(kind, (0, 3)) == draws(kind, (0, 3))
    assert draws(kind, (0, 3)) != draws(kind, (0, 4))
    assert draws(kind, (0, 3)) != draws(kind, (1, 3))


def test_a_study_is_there_again_and_its_database_is_closed(tmp_path):
    database = tmp_path / "study.db"
    for expected in ([], [1.5]):
        storage = open_storage(f"sqlite:///{database}")
        study = open_study("a study", storage)
        assert [trial.value for trial in study.get_trials()] == expected
        study.tell(study.ask(), 1.5)
        close_storage(storage)
        assert str(database) not in {file.path for file in psutil.Process().open_files()}


def test_what_is_no_storage_is_refused():
    with pytest.raises(ValueError, match="nothing is not an Optuna storage: expected a URL such as sqlite:"):
        open_storage("nothing")
