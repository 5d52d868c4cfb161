"""Each paper's pseudo-code in plain NumPy: the readable specification, and the proof that the core
follows it.
"""

import numpy as np


def trajectory(model, X, y):
    """Predictions of an oracle that is a class, each before its sample is learned."""
    predictions = []
    for x, target in zip(X, y, strict=True):
        predictions.append(model.predict(x))
        model.learn(x, target)
    return np.array(predictions)


def coherence(k, x, centres):
    if not len(centres):
        return 0.0
    norms = np.sqrt(k.diagonal(x[None]) * k.diagonal(np.array(centres)))
    return np.max(np.abs(k(x[None], np.array(centres))[0]) / norms)


def knlms(k, X, Y, step_size, mu0, ridge=0.0):
    """Honeine, Richard & Bermudez 2007, section V.A.

    Y is (n, C). Returns predictions before each update, centres, weights.
    """
    centres, w, predictions = [], np.zeros((0, Y.shape[1])), []
    for x, y in zip(X, Y, strict=True):
        h = k(x[None], np.array(centres))[0] if centres else np.zeros(0)
        predictions.append(h @ w)
        if coherence(k, x, centres) <= mu0:  # Case 2
            centres.append(x)
            h, w = np.append(h, k.diagonal(x[None])), np.vstack([w, np.zeros(Y.shape[1])])
        w = w + step_size / (ridge + h @ h) * np.outer(h, y - h @ w)  # (8)
    return np.array(predictions), np.array(centres), w


def accepted(k, x, centres, floor=2e-7):
    """The acceptance rule that the core's factor adds to every admission, and the projection it is
    made of: a, delta, accepted.
    """
    kxx = k.diagonal(x[None])[0]
    if not len(centres):
        return np.zeros(0), kxx, True
    K, h = k(np.array(centres)), k(x[None], np.array(centres))[0]
    a = np.linalg.solve(K, h)
    delta = kxx - h @ a
    return a, delta, delta > floor * (kxx + a**2 @ np.diag(K))


def klms(k, X, Y, step_size, radius=0.0):
    """Liu et al.

    2008; quantised, Chen et al. 2012. Returns predictions, centres, weights, as all of these do.
    """
    centres, w, predictions = [], np.zeros((0, Y.shape[1])), []
    for x, y in zip(X, Y, strict=True):
        f = k(x[None], np.array(centres))[0] @ w if centres else np.zeros(Y.shape[1])
        predictions.append(f)
        distances = np.linalg.norm(np.array(centres) - x, axis=1) if centres else np.array([np.inf])
        if distances.min() <= radius:
            w[distances.argmin()] += step_size * (y - f)
        else:
            centres.append(x)
            w = np.vstack([w, step_size * (y - f)])
    return np.array(predictions), np.array(centres), w


def norma(k, X, Y, step_size, alpha, budget):
    """Kivinen, Smola & Williamson 2004, squared loss, truncated to `budget` terms."""
    centres, w, predictions = np.zeros((0, X.shape[1])), np.zeros((0, Y.shape[1])), []
    for x, y in zip(X, Y, strict=True):
        f = k(x[None], centres)[0] @ w if len(centres) else np.zeros(Y.shape[1])
        predictions.append(f)
        w = np.vstack([(1 - step_size * alpha) * w, step_size * (y - f)])[-budget:]
        centres = np.vstack([centres, x])[-budget:]
    return np.array(predictions), centres, w


def krls_ald(k, X, Y, nu, ridge=0.0, forgetting=1.0, weights=None):
    """Engel, Mannor & Meir 2004, with explicit matrices; ridge, forgetting and weights added."""
    centres, w, predictions, P = [], np.zeros((0, Y.shape[1])), [], np.zeros((0, 0))
    for x, y, s in zip(X, Y, np.ones(len(X)) if weights is None else weights, strict=True):
        h = k(x[None], np.array(centres))[0] if centres else np.zeros(0)
        f = h @ w
        predictions.append(f)
        if s == 0:
            continue
        a, delta, sound = accepted(k, x, centres)
        P = P / forgetting
        if delta > nu and sound:
            centres.append(x)
            change = s * y / (ridge + s) - f
            w = np.vstack([w - np.outer(a, change) / delta, change / delta])
            P = np.block(
                [[P, np.zeros((len(P), 1))], [np.zeros((1, len(P))), np.array([[1 / (ridge + s)]])]]
            )
        else:
            q = P @ a / (1 / s + a @ P @ a)
            P = P - np.outer(q, a @ P)
            w = w + np.outer(np.linalg.solve(k(np.array(centres)), q), y - f)
    return np.array(predictions), np.array(centres), w


def krls_coherence(k, X, Y, mu0, ridge=0.0, forgetting=1.0, weights=None):
    """Richard, Bermudez & Honeine 2009, with explicit matrices; ridge, forgetting and weights
    added.
    """
    centres, w, predictions, P = [], np.zeros((0, Y.shape[1])), [], np.zeros((0, 0))
    for x, y, s in zip(X, Y, np.ones(len(X)) if weights is None else weights, strict=True):
        h = k(x[None], np.array(centres))[0] if centres else np.zeros(0)
        e = y - h @ w
        predictions.append(h @ w)
        if s == 0:
            continue
        P = P / forgetting
        if coherence(k, x, centres) <= mu0:
            centres.append(x)
            h0, m = k.diagonal(x[None])[0], len(P)
            w = np.vstack([w, np.zeros(Y.shape[1])])
            if ridge == 0:
                Ph = (P @ h)[:, None]
                w[-1] = e / h0
                P = np.block(
                    [[P, -Ph / h0], [-Ph.T / h0, np.array([[(1 / s + h @ P @ h) / h0**2]])]]
                )
                continue
            P = np.block([[P, np.zeros((m, 1))], [np.zeros((1, m)), np.array([[1 / ridge]])]])
            h = np.append(h, h0)
        g = P @ h / (1 / s + h @ P @ h)
        w, P = w + np.outer(g, e), P - np.outer(g, h @ P)
    return np.array(predictions), np.array(centres), w


def krls_budget(k, X, Y, nu, budget, penalty, ridge=0.0, forgetting=1.0, weights=None):
    """KRLS with eviction "project": v are the values at the centres, P is their covariance.

    The penalty is ridge ||v||^2 ("values") or ridge ||f||^2 ("norm").
    """
    centres, v, predictions, P = [], np.zeros((0, Y.shape[1])), [], np.zeros((0, 0))

    def needs():
        inverse = np.linalg.inv(k(np.array(centres)))
        return np.square(inverse @ v).sum(axis=1) / np.diag(inverse @ P @ inverse)

    for x, y, s in zip(X, Y, np.ones(len(X)) if weights is None else weights, strict=True):
        a, delta, sound = accepted(k, x, centres)
        f = a @ v
        predictions.append(f)
        if s == 0:
            continue
        P, m = P / forgetting, len(centres)
        variance = a @ P @ a
        # Mean and variance of the value at x, if it becomes a centre, and of y
        if penalty == "values":
            mean, own = s * y / (ridge + s), 1 / (ridge + s)
            need = np.sum((mean - f) ** 2) / (own + variance)
        else:
            mean, own = f, delta / ridge
            need = np.sum((y - f) ** 2) * (1 / (1 / s + variance) - 1 / (1 / s + variance + own))
        enters = delta > nu and sound and (m < budget or need > 2 * needs().min())
        if enters:
            centres.append(x)
            v, P = np.vstack([v, mean]), np.pad(P, (0, 1))
            P[m, m] = own
            if penalty == "norm":
                P[m, :m] = P[:m, m] = P[:m, :m] @ a
                P[m, m] += variance
            a = np.eye(m + 1)[m]
        if not (enters and penalty == "values"):
            q = P @ a / (1 / s + a @ P @ a)
            v, P = v + np.outer(q, y - f), P - np.outer(q, a @ P)
        if len(centres) > budget:
            j = int(needs().argmin())
            del centres[j]
            v, P = np.delete(v, j, axis=0), np.delete(np.delete(P, j, axis=0), j, axis=1)
    return np.array(predictions), np.array(centres), np.linalg.solve(k(np.array(centres)), v)


def project_out(k, centres, w, j):
    """The function without centre j: its projection onto the span of the others, and the squared
    distance.
    """
    keep = np.arange(len(centres)) != j
    K = k(np.array(centres))
    reduced = np.linalg.solve(K[np.ix_(keep, keep)], K[keep] @ w)
    change = w.copy()
    change[keep] -= reduced
    return (
        [c for c, kept in zip(centres, keep, strict=True) if kept],
        reduced,
        np.einsum("ic,ij,jc->", change, K, change),
    )


def spl(k, X, Y, step_size, eps0=None, mu0=None, budget=None, removal="older"):
    """Pothin & Richard 2006: basic SPL (eps0), coherence SPL (mu0 a number), adaptive (mu0 =
    "adaptive").
    """
    centres, w, predictions = [], np.zeros((0, Y.shape[1])), []

    def rho():
        K = k(np.array(centres))
        scale = np.sqrt(np.diag(K))
        return np.abs(np.triu(K / np.outer(scale, scale), 1))

    for x, y in zip(X, Y, strict=True):
        h = k(x[None], np.array(centres))[0] if centres else np.zeros(0)
        f = h @ w
        predictions.append(f)
        c = step_size * (y - f)
        a, delta, sound = accepted(k, x, centres)
        if eps0 is not None:
            admit = c @ c * delta > eps0**2  # (7), squared
        elif mu0 == "adaptive":
            admit = coherence(k, x, centres) < (1.0 if len(centres) < budget else rho().max())
        else:
            admit = coherence(k, x, centres) <= mu0  # (10)
        if admit and sound:
            centres.append(x)
            w = np.vstack([w, c])  # (6)
        else:
            w = w + np.outer(a, c)  # (12)
        if eps0 is not None:  # the decremental step
            while centres:
                costs = (w**2).sum(axis=1) / np.diag(np.linalg.inv(k(np.array(centres))))
                if costs.min() > eps0**2:
                    break
                centres, w, _ = project_out(k, centres, w, costs.argmin())
        elif budget is not None and len(centres) > budget:  # (15)-(20)
            i, j = np.unravel_index(rho().argmax(), (len(centres),) * 2)
            if removal == "cheaper":
                costs = (w**2).sum(axis=1) / np.diag(np.linalg.inv(k(np.array(centres))))
                i = j if costs[j] < costs[i] else i
            centres, w, _ = project_out(k, centres, w, i)
    return np.array(predictions), np.array(centres), w


def komp(K, W, allowance, budget=None):
    """Destructive matching pursuit with pre-fitting (Koppel et al.

    2019, Algorithm 2), in squared units and with every candidate refitted by a pseudo-inverse.

    Returns the centres removed in order, those kept, their weights, and the squared RKHS distance
    from the function K W, summed over outputs.
    """
    kept, removed, weights, error = list(range(len(K))), [], W, 0.0
    while kept:
        best = None
        for j in kept:
            others = [i for i in kept if i != j]
            refit = np.linalg.pinv(K[np.ix_(others, others)], hermitian=True) @ K[others] @ W
            gap = W.copy()
            gap[others] -= refit
            distance = np.trace(gap.T @ K @ gap)
            if best is None or distance < best[0]:
                best = distance, j, others, refit
        if not (best[0] <= allowance or (budget is not None and len(kept) > budget)):
            break
        error, gone, kept, weights = best
        removed.append(gone)
    return removed, kept, weights, error


def polk(k, X, gradient, n_outputs, step_size, alpha, parsimony, batch):
    """Functional stochastic gradient with sparse projections (Koppel et al.

    2019, Algorithm 1 with mini-batches); gradient(f, i) is that of sample i at f.

    As the core does, a point in the span up to rounding is projected onto it, and that is booked
    against eps^2, eps = parsimony eta^(3/2). Returns predictions before each batch, centres,
    weights.
    """
    centres, W, predictions = [], np.zeros((0, n_outputs)), []
    for first in range(0, len(X), batch):
        rows = range(first, min(first + batch, len(X)))
        eta = step_size * len(rows) / batch  # a short batch is a smaller step
        F = [
            k(X[i][None], np.array(centres))[0] @ W if centres else np.zeros(n_outputs)
            for i in rows
        ]
        predictions += F
        steps = [-eta / len(rows) * gradient(f, i) for f, i in zip(F, rows, strict=True)]
        W, spent = (1 - eta * alpha) * W, 0.0
        for i, step in zip(rows, steps, strict=True):
            if not step.any():
                continue
            a, delta, sound = accepted(k, X[i], centres)
            if sound:
                centres, W = [*centres, X[i]], np.vstack([W, step])
            else:
                W, spent = W + np.outer(a, step), spent + step @ step * max(delta, 0.0)
        while centres:
            K = k(np.array(centres))
            costs = (W**2).sum(axis=1) / np.diag(np.linalg.pinv(K, hermitian=True))
            j = costs.argmin()
            if spent + costs[j] > (parsimony * eta**1.5) ** 2:
                break
            spent += costs[j]
            others = [i for i in range(len(centres)) if i != j]
            W = np.linalg.pinv(K[np.ix_(others, others)], hermitian=True) @ K[others] @ W
            centres = [centres[i] for i in others]
    return np.array(predictions), np.array(centres), W


def best_merge(k, u, v):
    """The best single centre for u k(x, .) + v k(y, .), with a Gaussian kernel and k = k(x, y).

    Returns the squared change, h in z = h x + (1 - h) y, and the weights of z.
    """

    def merged(h):
        return np.outer(k ** ((1 - h) ** 2), u) + np.outer(k ** (h**2), v)

    h = np.linspace(0, 1, 201)
    h = np.clip(h[(merged(h) ** 2).sum(axis=1).argmax()] + np.linspace(-0.005, 0.005, 401), 0, 1)
    W = merged(h)
    i = (W**2).sum(axis=1).argmax()
    return u @ u + v @ v + 2 * k * u @ v - W[i] @ W[i], h[i], W[i]


def project_nearby(k, centres, W, change, values, neighbors, ridge=0.01):
    """Project the change of f by a merge onto the last of `centres` and those nearest to it.

    `change` is a function, given by its centres and weights. Its `values` are at all centres.
    Returns the new weights and the decrease of the squared norm of the change.
    """
    near = np.argsort(-k(centres[-1:], centres)[0], kind="stable")[:neighbors]
    K = k(centres[near], centres[near])
    A = np.linalg.solve(K + ridge * np.eye(len(near)), values[near])
    W = W.copy()
    W[near] += A
    norm = np.sum(change[1] * (k(change[0], change[0]) @ change[1]))
    points, left = np.vstack([change[0], centres[near]]), np.vstack([change[1], -A])
    return W, norm - np.sum(left * (k(points, points) @ left))


def polk_merging(
    k, X, gradient, n_outputs, step_size, alpha, parsimony, batch, budget, neighbors=0
):
    """POLK with merges instead of projections, for a Gaussian k and a constant rate eta.

    The centre of least norm is merged with the one that loses least (Wang, Crammer & Vucetic 2012),
    while the norms of the changes add up to at most eps = parsimony eta^(3/2), or while there are
    more than `budget`. With `neighbors`, the change is projected onto that many centres. Returns
    predictions before each batch, centres, weights, and the sum of the squared changes.
    """
    centres, W, predictions, total = np.zeros((0, X.shape[1])), np.zeros((0, n_outputs)), [], 0.0
    for first in range(0, len(X), batch):
        rows = np.arange(first, min(first + batch, len(X)))
        eta = step_size * len(rows) / batch
        F = k(X[rows], centres) @ W if len(W) else np.zeros((len(rows), n_outputs))
        predictions += list(F)
        steps = np.array([-eta / len(rows) * gradient(f, i) for f, i in zip(F, rows, strict=True)])
        learned = steps.any(axis=1)
        centres = np.vstack([centres, X[rows[learned]]])
        W = np.vstack([(1 - eta * alpha) * W, steps[learned]])
        moved = 0.0
        while len(W) > 0:
            a = (W**2).sum(axis=1).argmin()
            row = k(centres[a : a + 1], centres)[0]
            found = {b: best_merge(row[b], W[a], W[b]) for b in range(len(W)) if b != a}
            b = min(found, key=lambda b: found[b][0], default=a)
            lost, h, w = found.get(b, (W[a] @ W[a], 0.0, W[a]))  # the last one can only be dropped
            norm = np.sqrt(max(0.0, lost))
            if (budget is None or len(W) <= budget) and moved + norm > parsimony * eta**1.5:
                break
            z = h * centres[a] + (1 - h) * centres[b]
            change = np.vstack([centres[a], centres[b], z]), np.vstack([W[a], W[b], -w])
            centres[b], W[b] = h * centres[a] + (1 - h) * centres[b], w
            left = [i for i in range(len(W)) if i != a]
            if h > 0:  # a centre that moves becomes the newest
                left = [i for i in left if i != b] + [b]
            place = left.index(b) if b != a else None
            centres, W = centres[left], W[left]
            if neighbors and place is not None:
                # The merged centre is last for `project_nearby`.
                last = [i for i in range(len(W)) if i != place] + [place]
                values = k(centres[last], change[0]) @ change[1]
                W[last], gained = project_nearby(
                    k, centres[last], W[last], change, values, neighbors
                )
                lost -= gained
            moved, total = moved + np.sqrt(max(0.0, lost)), total + max(0.0, lost)
    return np.array(predictions), centres, W, total


def multiclass_hinge(f, y):
    """The gradient of (26)."""
    g, others = np.zeros(len(f)), np.delete(np.arange(len(f)), y)
    r = others[f[others].argmax()]
    if 1 + f[r] - f[y] > 0:
        g[r], g[y] = 1.0, -1.0
    return g


def multinomial_logistic(f, y):
    """The gradient of (28)."""
    p = np.exp(f - f.max())
    return p / p.sum() - np.eye(len(f))[y]


def svrseq(K, y, eta, epsilon, C, passes):
    """SVRseq (Vijayakumar & Wu 1999), Table 1 of Engel, Mannor & Meir 2002, on the Gram matrix K of
    a homogenised kernel. Returns alpha* - alpha.
    """
    star, plain = np.zeros(len(y)), np.zeros(len(y))
    for _ in range(passes):
        for i in range(len(y)):
            d = y[i] - (star - plain) @ K[i]
            star[i] = max(0.0, min(C, star[i] + eta * (d - epsilon)))
            plain[i] = max(0.0, min(C, plain[i] - eta * (d + epsilon)))
    return star - plain


def sog_svr(k, X, y, epsilon, nu, gamma=0.0, targets=None, best="dual"):
    """SOG-SVR, Table 2 of Engel, Mannor & Meir 2002 with alpha_1 = max(0, -y/k) and one shared
    step, which the paper leaves open.

    It is best for the dual, or for the squared error.
    targets(f, y), if given, says what is aimed at (SOG-SVC). Returns predictions before each
    sample, centres, alpha, alpha*.
    """
    aim = targets or (lambda f, y: y)
    kxx = k(X[:1], X[:1])[0, 0]
    t = aim(0.0, y[0])
    centres, K, A, Ae = [X[0]], np.array([[kxx]]), np.ones((1, 1)), np.ones(1)
    star, plain, predictions = np.array([max(0.0, t / kxx)]), np.array([max(0.0, -t / kxx)]), [0.0]
    ts = [t]
    for x, label in zip(X[1:], y[1:], strict=True):
        h, kxx = k(x[None], np.array(centres))[0], k(x[None], x[None])[0, 0]
        predictions.append(h @ (star - plain))
        t = aim(predictions[-1], label)
        a = np.linalg.solve(K + gamma * np.eye(len(K)), h)
        if kxx - (h + gamma * a) @ a > nu:
            centres.append(x)
            K = np.block([[K, h[:, None]], [h, kxx]])
            A = np.pad(A, ((0, 0), (0, 1)))
            Ae, star, plain = (np.append(v, 0.0) for v in (Ae, star, plain))
            a = np.append(np.zeros(len(a)), 1.0)
        A, Ae = np.vstack([A, a]), Ae + a
        ts.append(t)
        r = A.T @ (np.array(ts) - A @ (K @ (star - plain)))
        if best == "dual":
            eta = r @ np.linalg.solve(A.T @ A, r) / (r @ K @ r)
        else:
            eta = r @ K @ r / np.sum((A @ (K @ r)) ** 2)
        star, plain = star + eta / 2 * (r - epsilon * Ae), plain - eta / 2 * (r + epsilon * Ae)
    return np.array(predictions), np.array(centres), plain, star


def lasso(G, b, lam):
    """argmin alpha'G alpha / 2 - b'alpha + lam ||alpha||_1 for a positive definite G, by trying
    active sets until nothing objects (Osborne's homotopy, from lam = max |b| down).
    """
    alpha, active, signs, now = np.zeros(len(b)), [], {}, np.abs(b).max()
    if now <= lam:
        return alpha
    j = int(np.abs(b).argmax())
    active, signs = [j], {j: np.sign(b[j])}
    while True:
        s = np.array([signs[i] for i in active])
        inverse = np.linalg.inv(G[np.ix_(active, active)])
        at, slope = inverse @ b[active], inverse @ s  # alpha_A = at - level * slope
        events = [(lam, "end", None, 0.0)]
        for i, a0, a1 in zip(active, at, slope, strict=True):
            if a1 != 0 and lam < a0 / a1 < now * (1 - 1e-12):
                events.append((a0 / a1, "leaves", i, 0.0))
        for i in set(range(len(b))) - set(active):
            c0, c1 = b[i] - G[i, active] @ at, G[i, active] @ slope  # correlation = c0 + level * c1
            for sign in (1.0, -1.0):
                if sign - c1 != 0:
                    level = c0 / (sign - c1)
                    if lam < level < now * (1 - 1e-12):
                        events.append((level, "enters", i, sign))
        now, what, i, sign = max(events)
        if what == "end":
            alpha[active] = at - lam * slope
            return alpha
        if what == "leaves":
            active.remove(i)
        else:
            active.append(i)
            signs[i] = sign


def kernel_dl(k, X, Omega, lam, mu, rate, budget, gamma=np.inf, epsilon=-1.0, parameter=True):
    """Online kernel dictionary learning on a budget, Table I of Lee & Kim 2016.

    Omega: the first rows; rate(n). Returns the stored samples and Omega.
    """
    stored, Omega = list(X[: len(Omega)]), Omega.copy()
    for n in range(len(stored) + 1, len(X) + 1):
        x, old = X[n - 1], np.array(stored)
        K, h, kxx = k(old, old), k(old, x[None])[:, 0], k(x[None], x[None])[0, 0]
        if gamma <= 1 and not np.max(np.abs(h) / np.sqrt(kxx * np.diag(K))) < gamma:
            continue
        G = Omega.T @ K @ Omega
        alpha = lasso(G, Omega.T @ h, lam)
        if not alpha @ G @ alpha - 2 * alpha @ Omega.T @ h + kxx > epsilon:
            continue
        stored.append(x)
        if parameter:
            new = np.array(stored)
            K, h, wide = (
                k(new, new),
                k(new, x[None])[:, 0],
                np.vstack([Omega, np.zeros(len(alpha))]),
            )
            Omega = wide - rate(n) * (
                K @ wide @ np.outer(alpha, alpha) - np.outer(h, alpha) + mu * K @ wide
            )
        else:
            B = (1 - mu * rate(n)) * np.eye(len(alpha)) - rate(n) * np.outer(alpha, alpha)
            Omega = np.vstack([Omega @ B, rate(n) * alpha])
        if len(stored) > budget:
            least = int(np.argmin((Omega**2).sum(axis=1)))
            del stored[least]
            Omega = np.delete(Omega, least, axis=0)
    return np.array(stored), Omega


def kap(k, X, Y, step_size, mu0, order, ridge=0.0):
    """Kernel affine projection: Richard, Bermudez & Honeine 2009, the recursion of its section IV.

    Returns predictions before each sample (n, C), centres and weights (m, C).
    """
    centres, predictions = X[:0], []
    W = np.zeros((0, Y.shape[1]))
    for t, x in enumerate(X):
        predictions.append(
            k(x[np.newaxis], centres)[0] @ W if len(centres) else np.zeros(len(Y[0]))
        )
        if not len(centres) or coherence(k, x, centres) <= mu0:
            centres, W = np.vstack([centres, x]), np.vstack([W, np.zeros(Y.shape[1])])
        recent = slice(max(t + 1 - order, 0), t + 1)
        H = k(X[recent], centres)
        A = ridge * np.eye(len(H)) + H @ H.T
        W = W + step_size * H.T @ np.linalg.solve(A, Y[recent] - H @ W)
    return np.array(predictions), centres, W
