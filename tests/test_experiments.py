"""The experiments run, and the figures they are there for hold."""

import importlib

import numpy as np
import pytest

from parsimon.datasets import make_pothin_system
from parsimon.experiments import EXPERIMENTS
from parsimon.experiments.pothin_richard_2006 import time_series


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_an_experiment_gives_a_table_and_pictures(name, tmp_path):
    report = importlib.import_module(EXPERIMENTS[name]).run(tmp_path, quick=True)
    report.write(tmp_path)
    text = (tmp_path / "table.md").read_text()
    assert report.title in text
    assert all(len(row) == len(report.header) for row in report.rows)
    assert all(picture.stat().st_size > 1000 for picture in report.pictures)


def test_basic_spl_reaches_the_paper_s_figure():
    error, order = time_series.nrmse("basic", 0.5, skip=0)
    assert error <= 7.07e-4
    assert order <= 26


def test_coherence_spl_reaches_the_paper_s_figure_without_the_transient():
    error, order = time_series.nrmse("coherence", 0.5, skip=20)
    assert error <= 6.5e-4
    assert order <= 24


@pytest.mark.parametrize("kind", ["basic", "coherence"])
def test_the_noisy_benchmark(kind):
    errors = [time_series.nrmse(kind, time_series.NOISY_RATE, skip=0, noise=0.1, seed=s)[0] for s in range(20)]
    assert np.mean(errors) <= 0.065


def test_the_printed_start_of_the_second_benchmark_grows_without_bound_in_some_runs():
    def grows(seed):
        try:
            make_pothin_system(200, start=10.0, random_state=seed)
        except ValueError as error:
            assert "grows without bound" in str(error)
            return True
        return False

    with np.errstate(over="ignore"):
        assert 5 < sum(grows(seed) for seed in range(40)) < 35


def test_unknown_names_are_refused(capsys, monkeypatch):
    from parsimon.experiments.__main__ import main

    monkeypatch.setattr("sys.argv", ["experiments", "honeine-2007/figure-9"])
    with pytest.raises(SystemExit) as stop:
        main()
    assert stop.value.code == 2
    assert "unknown experiment 'honeine-2007/figure-9'" in capsys.readouterr().err
