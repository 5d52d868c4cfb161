"""The dictionary against dense linear algebra."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parsimon import _core, kernels


def worst_entry(dictionary, kernel):
    S = dictionary.factor()
    K = kernel(dictionary.centers())
    return np.abs(S.T @ S @ K - np.eye(len(K))).max()


def clustered(rng, d):
    """Points around a thousand anchors at distances from 1e-4 to 0.1: within a cluster their kernel
    values exceed 0.99.
    """
    anchors = rng.uniform(-1, 1, size=(1000, d)) * (4.0 if d == 2 else 1.5)
    while True:
        anchor, radius = anchors[rng.integers(len(anchors))], 10 ** rng.uniform(-4, -1)
        yield anchor + rng.normal(size=d) * radius / np.sqrt(d)


def rkhs_distance(kernel, before, after):
    (centres, weights), (fewer, reduced) = before, after
    points, w = np.vstack([centres, fewer]), np.vstack([weights, -reduced])
    return np.einsum("ic,ij,jc->", w, kernel(points), w)


@pytest.mark.parametrize("d", [2, 20])
def test_a_hundred_thousand_changes(d):
    kernel = kernels.Gaussian(1.0 if d == 2 else 0.5)
    rng = np.random.default_rng(d)
    stream = clustered(rng, d)
    dictionary = _core.Dictionary(kernel.core(), d, 2, reserve=301)
    refused = checks = changes = 0
    neighbours = worst = error = 0.0
    while changes < 100_000:
        m, choice = len(dictionary), rng.random()
        if m < 5 or (choice < 0.5 and m < 300):
            accepted = dictionary.append(next(stream), rng.normal(size=2))
        elif choice < 0.8:
            dictionary.project_out(int(rng.integers(m)))
            accepted = True
        else:
            accepted = dictionary.replace(int(rng.integers(m)), next(stream), rng.normal(size=2))
        refused += not accepted
        changes += accepted
        dictionary.maintain()
        if accepted and changes % 1000 == 0:
            checks += 1
            worst = max(worst, worst_entry(dictionary, kernel))
            assert worst <= 2e-6
            K = kernel(dictionary.centers())
            neighbours = max(neighbours, np.max(K - np.eye(len(K))))
            # Booked costs of a run of removals against the true squared distance.
            dictionary.set_weights(rng.normal(size=(len(dictionary), 2)))
            before = dictionary.centers(), dictionary.weights()
            norm = np.einsum("ic,ij,jc->", before[1], K, before[1])
            booked = sum(
                dictionary.project_out(int(np.argmin(dictionary.removal_costs())))
                for _ in range(len(dictionary) // 3)
            )
            changes += len(before[0]) - len(dictionary)
            true = rkhs_distance(kernel, before, (dictionary.centers(), dictionary.weights()))
            error = max(error, abs(booked - true) / norm)
            assert error <= 1e-6
    assert checks > 50
    assert neighbours > 0.99
    assert refused > 0
    assert dictionary.rebuilds <= 20
    print(
        f"d={d}: max |S'S K - I| {worst:.1e}, booked costs off by {error:.1e} of ||f||^2, "
        f"{dictionary.rebuilds} rebuilds, "
        f"{refused} refused, closest pair {neighbours:.6f}"
    )


def spread(draw_points, n_outputs=2, kernel=None):
    kernel = kernel or kernels.Gaussian(1.0)
    dictionary = _core.Dictionary(kernel.core(), draw_points.shape[1], n_outputs)
    rng = np.random.default_rng(0)
    for x in draw_points:
        dictionary.append(x, rng.normal(size=n_outputs))
    return dictionary


@given(seed=st.integers(0, 2**32 - 1), m=st.integers(1, 25), d=st.integers(1, 4))
@settings(max_examples=100, deadline=None)
def test_look_matches_dense_projection(seed, m, d):
    rng = np.random.default_rng(seed)
    kernel = kernels.Matern32(0.3) + 0.1
    dictionary = spread(rng.normal(size=(m, d)) * 2, kernel=kernel)
    x = rng.normal(size=d) * 2
    look = dictionary.look(x)
    K, h = kernel(dictionary.centers()), kernel(x[None], dictionary.centers())[0]
    a = np.linalg.solve(K, h)
    np.testing.assert_allclose(look["kernel_row"], h)
    np.testing.assert_allclose(look["coefficients"], a, atol=1e-6)
    assert look["residual"] == pytest.approx(1.1 - h @ a, abs=1e-9)


@given(seed=st.integers(0, 2**32 - 1), m=st.integers(2, 25))
@settings(max_examples=100, deadline=None)
def test_project_out_is_the_best_approximation(seed, m):
    rng = np.random.default_rng(seed)
    kernel = kernels.Gaussian(1.0)
    dictionary = spread(rng.normal(size=(m, 2)) * 3, kernel=kernel)
    m = len(dictionary)
    if m < 2:
        return
    j = int(rng.integers(m))
    centres, weights = dictionary.centers(), dictionary.weights()
    cost = dictionary.removal_costs()[j]
    keep = np.arange(m) != j
    K = kernel(centres)
    best = np.linalg.solve(K[np.ix_(keep, keep)], K[keep] @ weights)
    booked = dictionary.project_out(j)
    np.testing.assert_allclose(dictionary.weights(), best, atol=1e-5 * (1 + np.abs(best).max()))
    true = rkhs_distance(kernel, (centres, weights), (centres[keep], best))
    assert booked == pytest.approx(cost, rel=1e-6)
    assert booked == pytest.approx(true, abs=1e-8)


def test_drop_leaves_the_other_weights_alone():
    dictionary = spread(np.random.default_rng(0).normal(size=(10, 2)) * 3)
    centres, weights = dictionary.centers(), dictionary.weights()
    dictionary.drop(3)
    np.testing.assert_array_equal(dictionary.weights(), np.delete(weights, 3, axis=0))
    np.testing.assert_array_equal(dictionary.centers(), np.delete(centres, 3, axis=0))
    assert worst_entry(dictionary, kernels.Gaussian(1.0)) < 1e-9


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_acceptance_does_not_depend_on_the_kernel_s_scale(scale):
    rng = np.random.default_rng(1)
    points = rng.normal(size=(400, 1))
    plain = spread(points)
    scaled = spread(points, kernel=scale * kernels.Gaussian(1.0))
    np.testing.assert_array_equal(plain.centers(), scaled.centers())
    assert len(plain) < 40


def test_copies_are_refused():
    x = np.array([0.3, -0.2])
    for kernel in (kernels.Gaussian(), kernels.Polynomial(3), kernels.Linear()):
        dictionary = _core.Dictionary(kernel.core(), 2)
        assert dictionary.append(x, np.ones(1))
        assert not dictionary.append(x, np.ones(1))
        assert dictionary.look(x)["coherence"] == 1.0


def test_a_zero_function_is_refused():
    dictionary = _core.Dictionary(kernels.Linear().core(), 2)
    assert not dictionary.append(np.zeros(2), np.ones(1))
    assert dictionary.look(np.zeros(2))["coherence"] == 1.0


def test_a_reserved_dictionary_keeps_its_size_in_memory():
    dictionary = _core.Dictionary(kernels.Gaussian().core(), 3, reserve=50)
    rng = np.random.default_rng(0)

    def fill():
        while len(dictionary) < 49:
            dictionary.append(rng.normal(size=3) * 5, np.ones(1))
        while len(dictionary) > 30:
            dictionary.project_out(0)
        dictionary.maintain()

    before = dictionary.nbytes, dictionary.capacity
    for _ in range(200):
        fill()
    assert (dictionary.nbytes, dictionary.capacity) == before


def test_a_kernel_that_fails_in_a_rebuild_leaves_the_dictionary_whole():
    calls = {"left": 10**9}

    def function(x, y):
        calls["left"] -= 1
        if calls["left"] < 0:
            raise RuntimeError("enough")
        return float(np.exp(-((x - y) ** 2).sum()))

    dictionary = spread(np.arange(12.0)[:, None], kernel=kernels.Function(function))
    factor = dictionary.factor()
    calls["left"] = 30
    with pytest.raises(RuntimeError, match="enough"):
        dictionary.rebuild()
    calls["left"] = 10**9
    assert len(dictionary) == 12
    np.testing.assert_array_equal(dictionary.factor(), factor)
    assert worst_entry(dictionary, kernels.Gaussian(1.0)) < 1e-9
