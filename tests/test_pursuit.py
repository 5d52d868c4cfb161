"""Matching pursuit by matrix products removes what the dictionary removes one centre at a time."""

import copy
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import threadpoolctl

from parsimon import KernelExpansionRegressor, _core, kernels
from parsimon.merging import pursuit


def function(n, d, seed, outputs=2):
    rng = np.random.default_rng(seed)
    return rng.uniform(-1, 1, size=(n, d)), rng.normal(size=(n, outputs)) * rng.uniform(
        0.01, 1, size=(n, 1)
    )


def one_by_one(K, W, most, allowance):
    """Plain: what each removal costs is solved for anew."""
    left, values = list(range(len(K))), K @ W
    while left:
        P = np.linalg.inv(K[np.ix_(left, left)])
        costs = ((P @ values[left]) ** 2).sum(axis=1) / np.diag(P)
        j = int(np.argmin(costs))
        if len(left) <= most and costs[j] > allowance:
            break
        allowance -= costs[j]
        del left[j]
    return left


@pytest.mark.parametrize(
    ("most", "allowance"), [(60, 0.0), (200, 0.5), (30, 1.0), (200, 0.0)], ids=str
)
def test_the_cheapest_leave(monkeypatch, most, allowance):
    monkeypatch.setattr(pursuit, "BLOCK", 16)
    kernel = kernels.Gaussian(2.0)
    X, W = function(130, 4, 0)
    K = kernel(X)
    S = pursuit.inverse_factor(pursuit.gram(kernel, X))
    np.testing.assert_allclose(
        S.T @ S, np.linalg.inv(K), rtol=1e-9, atol=1e-9 * np.abs(S).max() ** 2
    )
    left, _ = pursuit.pursue(kernel, X, np.tril(K), K @ W, np.arange(len(X)), S, most, allowance)
    assert left.tolist() == one_by_one(K, W, most, allowance)


def test_without_anything_to_say_all_may_leave():
    kernel = kernels.Gaussian(2.0)
    X, W = function(40, 3, 1)
    K = pursuit.gram(kernel, X)
    S = pursuit.inverse_factor(K)
    assert not len(pursuit.pursue(kernel, X, K, 0 * W, np.arange(40), S, 40, 1e-30)[0])


@pytest.mark.parametrize("apart", [1e-1, 1e-2, 3e-3])
@pytest.mark.parametrize("block", [8, 128])
def test_near_copies(monkeypatch, apart, block):
    """Every centre has a twin: the inverse loses its digits with each removal."""
    monkeypatch.setattr(pursuit, "BLOCK", block)
    kernel = kernels.Gaussian(1.0)
    rng = np.random.default_rng(2)
    base, W = function(60, 4, 3, 1)
    X = np.concatenate([base, base + apart * rng.normal(size=base.shape)])
    V = np.concatenate([W, 0.5 * W])
    K = pursuit.gram(kernel, X)
    full = kernel(X)
    S = pursuit.inverse_factor(K)
    assert pursuit.is_sound(S, np.diag(K))
    left, _ = pursuit.pursue(kernel, X, K, full @ V, np.arange(120), S, 60, 0.0)
    assert len(left) == 60
    dictionary = _core.Dictionary(kernel.core(), 4, 1, True, False)
    assert all(dictionary.add(X, V))
    spent = dictionary.project_out_cheapest(0.0, 60)
    D = V.copy()
    D[left] -= np.linalg.solve(full[np.ix_(left, left)], (full @ V)[left])
    np.testing.assert_allclose((D.T @ full @ D).item(), spent, rtol=1e-6, atol=1e-9)


def test_weights_that_are_no_numbers_keep_the_budget():
    kernel = kernels.Gaussian(2.0)
    X, W = function(30, 3, 4, 1)
    K = pursuit.gram(kernel, X)
    S = pursuit.inverse_factor(K)
    with np.errstate(over="ignore", invalid="ignore"):
        assert (
            len(pursuit.pursue(kernel, X, K, 1e200 * (kernel(X) @ W), np.arange(30), S, 10, 0.0)[0])
            == 10
        )


def test_what_is_singular_has_no_factor():
    X = np.zeros((3, 2))
    assert pursuit.inverse_factor(pursuit.gram(kernels.Gaussian(1.0), X)) is None


def test_a_dictionary_adopts_what_it_would_have_made():
    kernel = kernels.Gaussian(2.0)
    X, W = function(50, 3, 5)
    made, adopted = (_core.Dictionary(kernel.core(), 3, 2, True, False) for _ in range(2))
    assert all(made.add(X, W))
    adopted.adopt(X, W, np.ascontiguousarray(pursuit.inverse_factor(pursuit.gram(kernel, X))))
    for name in ("centers", "weights", "factor"):
        np.testing.assert_allclose(
            getattr(made, name)(), getattr(adopted, name)(), rtol=1e-8, atol=1e-8
        )
    np.testing.assert_allclose(made.removal_costs(), adopted.removal_costs(), rtol=1e-8)
    assert adopted.drift() < 1e-9
    with pytest.raises(ValueError, match="empty"):
        adopted.adopt(X, W, np.eye(50))
    with pytest.raises(ValueError, match="as many rows"):
        _core.Dictionary(kernel.core(), 3, 2, True, False).adopt(X, W, np.eye(49))


def test_a_few_leave_by_the_factor():
    kernel = kernels.Gaussian(2.0)
    X, W = function(100, 4, 6)
    K = kernel(X)
    S = pursuit.inverse_factor(np.tril(K))
    left, factor = pursuit.pursue(kernel, X, np.tril(K), K @ W, np.arange(100), S, 95, 0.0)
    assert left.tolist() == one_by_one(K, W, 95, 0.0)
    np.testing.assert_allclose(
        factor.T @ factor, np.linalg.inv(K[np.ix_(left, left)]), rtol=1e-7, atol=1e-7
    )


@pytest.mark.parametrize("known", [1, 40, 50])
def test_a_factor_is_extended(known):
    kernel = kernels.Gaussian(2.0)
    X, _ = function(50, 3, 7)
    K = pursuit.gram(kernel, X)
    first = pursuit.inverse_factor(np.ascontiguousarray(K[:known, :known]))
    np.testing.assert_allclose(
        pursuit.extended(first, K), pursuit.inverse_factor(K), rtol=1e-8, atol=1e-8
    )
    X[-1] = X[0]
    if known < 50:
        assert pursuit.extended(first, pursuit.gram(kernel, X)) is None


@pytest.mark.parametrize("n", [30, 70, 130])
def test_panels_make_up_the_whole_and_threads_change_no_bit(monkeypatch, n):
    monkeypatch.setattr(pursuit, "PANEL", 16)
    monkeypatch.setattr(pursuit, "SMALL", 32)
    monkeypatch.setattr(pursuit, "BLOCK", 8)
    kernel = kernels.Gaussian(2.0)
    X, W = function(n, 4, 7)
    found = []
    for threads in (1, 3):
        K = pursuit.gram(kernel, X, threads)
        S = pursuit.inverse_factor(K, threads)
        more = pursuit.extended(np.ascontiguousarray(S[:20, :20]), K, threads)
        left, _ = pursuit.pursue(kernel, X, K, kernel(X) @ W, np.arange(n), S, n // 2, 0.0, threads)
        found.append([a.tobytes() for a in (K, S, more, left)])
        full = kernel(X)
        np.testing.assert_array_equal(np.tril(K), np.tril(full))
        for factor in (S, more):
            np.testing.assert_allclose(factor.T @ factor @ full, np.eye(n), atol=1e-8)
            assert not np.triu(factor, 1).any()
        assert left.tolist() == one_by_one(full, W, n // 2, 0.0)
    assert found[0] == found[1]


def test_a_matrix_that_is_indefinite_late_is_refused(monkeypatch):
    monkeypatch.setattr(pursuit, "PANEL", 16)
    monkeypatch.setattr(pursuit, "SMALL", 32)
    K = np.eye(100)
    K[97, 97] = -1.0
    assert pursuit.inverse_factor(K) is None
    assert pursuit.extended(np.eye(40), K) is None


def test_arrays_of_different_sizes_are_refused():
    P, ones = np.eye(3), np.ones(3)
    with pytest.raises(ValueError, match="not of as many centres"):
        _core.remove_cheapest(
            P, np.ones((1, 2)), ones, ones, np.zeros(3, dtype=bool), np.zeros((1, 3)), 1, 0.0, 0.0
        )
    with pytest.raises(ValueError, match="a row for each point"):
        _core.Gram(kernels.Gaussian(1.0).core(), P).fill(0, 4, P)


def test_an_allowance_is_spent_once(monkeypatch):
    # Isolated centres, and two so near that the explicit inverse has lost its digits after a block:
    # what left in it counts.
    monkeypatch.setattr(pursuit, "BLOCK", 16)
    apart, height = 2e-3, 0.05
    X = 6.0 * np.stack(np.meshgrid(np.arange(14.0), np.arange(14.0)), -1).reshape(-1, 2)
    X = np.concatenate([X, X[-1:] + np.array([apart, 0.0])])
    w = np.concatenate([np.full(15, 0.1), np.full(35, 0.12), np.full(146, 10.0), [height / apart]])
    w[-2] -= height / apart
    model = KernelExpansionRegressor(kernels.Gaussian(1.0), X, w)
    assert 0.4 < model.compress(tolerance=np.sqrt(0.2)).distance <= np.sqrt(0.2)


def test_merging_is_the_same_in_other_threads_and_side_by_side():
    X, W = function(900, 6, 3)
    whole = KernelExpansionRegressor(kernels.Gaussian(2.0), X, W[:, 0])
    models = [copy.deepcopy(whole) for _ in range(4)]
    before = [
        pool["num_threads"]
        for pool in threadpoolctl.threadpool_info()
        if pool["user_api"] == "blas"
    ]
    first = models[0].compress(300)
    with ThreadPoolExecutor(3) as pool:
        done = list(
            pool.map(lambda model, n: model.compress(300, n_jobs=n), models[1:], (None, 3, 1000))
        )
    assert {result.distance for result in done} == {first.distance}
    for model in models[1:]:
        np.testing.assert_array_equal(model.weights, models[0].weights)
    after = [
        pool["num_threads"]
        for pool in threadpoolctl.threadpool_info()
        if pool["user_api"] == "blas"
    ]
    assert after == before
