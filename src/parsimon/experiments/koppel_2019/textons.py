"""Texton histograms of texture patches: the `brodatz` data of the paper.

13 images, 256 textons, overlapping patches of 24 x 24 pixels, 10000 of them for training and 5000
for testing; these counts are lost from the text at hand and are from memory of the literature. The
paper names neither the images nor the filters. Those here are Leung & Malik's, at smaller scales
than theirs since a patch is small. Their responses are not contrast-normalised, as is often done (r
log(1 + |r| / 0.03) / |r|): on a validation part of the training data an RBF SVM errs about half as
often without.

References
----------
T. Leung, J. Malik, *Representing and recognizing the visual appearance of materials using
three-dimensional textons*, IJCV 2001. M. Varma, A. Zisserman, *A statistical approach to texture
classification from single images*, IJCV 2005 (the bank and the contrast normalisation).
"""

from __future__ import annotations

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray
from scipy import fft
from sklearn.cluster import MiniBatchKMeans

RADIUS, ORIENTATIONS, ELONGATION = 18, 6, 3.0
SCALES = (0.5**0.5, 1.0, 2.0**0.5, 2.0)
PIXELS_PER_TEXTON = 400

Float32 = NDArray[np.float32]
Integers = NDArray[np.int64]
Sample = tuple[NDArray[np.float64], Integers]


def filter_bank() -> Float32:
    """Return 48 filters of 37 x 37: edges and bars at 3 scales and 6 orientations, 8 Laplacians of
    Gaussians, 4 Gaussians.

    Each has an l1 norm of 1, and all but the Gaussians a mean of 0: responses are of one size, and
    those of a flat area are 0.
    """
    y, x = np.mgrid[-RADIUS : RADIUS + 1, -RADIUS : RADIUS + 1].astype(float)
    contrasts, blobs = [], []
    for scale in SCALES[:3]:
        for angle in np.pi * np.arange(ORIENTATIONS) / ORIENTATIONS:
            along, across = (
                x * np.cos(angle) + y * np.sin(angle),
                y * np.cos(angle) - x * np.sin(angle),
            )
            ridge = np.exp(-0.5 * ((along / (ELONGATION * scale)) ** 2 + (across / scale) ** 2))
            contrasts += [across * ridge, (across**2 / scale**2 - 1) * ridge]
    for scale in SCALES:
        blobs.append(np.exp(-0.5 * (x**2 + y**2) / scale**2))
        for sigma in (scale, 3 * scale):
            u = (x**2 + y**2) / sigma**2
            contrasts.append((u - 2) * np.exp(-0.5 * u))
    filters = [f - f.mean() for f in contrasts] + blobs
    return np.array([f / np.abs(f).sum() for f in filters], dtype=np.float32)


def responses(image: NDArray[np.uint8], bank: Float32) -> Float32:
    """Return what each filter says at each pixel, (H W, filters).

    The image is brought to mean 0 and variance 1, so that its contrast does not give it away, and
    mirrored at its borders.
    """
    height, width = image.shape
    size = [fft.next_fast_len(side + 2 * RADIUS, real=True) for side in (height, width)]
    flat = np.pad((image - image.mean()) / image.std(), RADIUS, mode="symmetric").astype(np.float32)
    product = fft.rfft2(flat, size) * fft.rfft2(bank, size)
    # What wraps around falls on the first 2 RADIUS rows and columns, which are not taken.
    filtered = fft.irfft2(product, size)[:, 2 * RADIUS :, 2 * RADIUS :][:, :height, :width]
    return np.ascontiguousarray(filtered.reshape(len(bank), -1).T, dtype=np.float32)


def learn_textons(
    images: NDArray[np.uint8], bank: Float32, n_textons: int, seed: int
) -> MiniBatchKMeans:
    """Return the k-means whose centres are the textons, from as many random pixels of each image."""
    rng = np.random.default_rng(seed)
    count = min(images[0].size, -(-PIXELS_PER_TEXTON * n_textons // len(images)))
    pixels = [
        responses(image, bank)[rng.choice(image.size, count, replace=False)] for image in images
    ]
    means = MiniBatchKMeans(n_textons, batch_size=4096, n_init=1, random_state=seed)
    return means.fit(np.concatenate(pixels))


def texton_maps(images: NDArray[np.uint8], bank: Float32, textons: MiniBatchKMeans) -> Integers:
    """Return the index of the nearest texton at each pixel."""
    return np.array(
        [textons.predict(responses(image, bank)).reshape(image.shape) for image in images],
        dtype=np.int64,
    )


def histograms(maps: Integers, patches: Integers, patch: int, n_textons: int) -> Sample:
    """Return the square roots of the relative frequencies of the textons in numbered patches, and
    the images they lie in.
    """
    windows = sliding_window_view(maps, (patch, patch), axis=(1, 2))
    image, row, column = np.unravel_index(patches, windows.shape[:3])
    cells = (
        windows[image, row, column].reshape(len(patches), -1)
        + n_textons * np.arange(len(patches))[:, None]
    )
    counts = np.bincount(cells.ravel(), minlength=n_textons * len(patches)).reshape(-1, n_textons)
    return np.sqrt(counts / patch**2), image.astype(np.int64)


def draw(maps: Integers, count: int, patch: int, rng: np.random.Generator) -> Integers:
    """Return the numbers of `count` different patches, drawn from all positions in all images."""
    n, height, width = maps.shape
    positions = n * (height - patch + 1) * (width - patch + 1)
    if count > positions:
        raise ValueError(
            f"{count} patches asked for, but {n} maps of {height} x {width} have {positions}: ask for fewer"
        )
    return rng.choice(positions, count, replace=False)


def check(images: NDArray[np.uint8], patch: int) -> None:
    """Raise if these are not grey images, hold no patch, or one of them has no contrast."""
    if images.ndim != 3:
        raise ValueError(f"images must be (n_images, height, width), got the shape {images.shape}")
    if min(images.shape[1:]) < patch:
        raise ValueError(
            f"a part of {images.shape[1]} x {images.shape[2]} pixels holds no patch of {patch} x {patch}"
        )
    constant = np.flatnonzero(images.min(axis=(1, 2)) == images.max(axis=(1, 2)))
    if len(constant):
        raise ValueError(f"image {constant[0]} is of one colour and has no texture: leave it out")


def texton_histograms(
    images: NDArray[np.uint8],
    *,
    n_textons: int = 256,
    patch: int = 24,
    n_train: int = 10_000,
    n_test: int = 5_000,
    disjoint: bool = False,
    random_state: int = 0,
) -> tuple[NDArray[np.float64], Integers, NDArray[np.float64], Integers]:
    """Return X_train, y_train, X_test, y_test: texton histograms of random patches, and the index
    of the image each is from.

    The textons are the k-means centres of the responses of a bank of filters to random pixels; a
    patch is described by how often each texton is the nearest one in it. The rows of X are the
    *square roots* of these relative frequencies, so of unit length: the Gaussian kernel then
    compares Hellinger distances.

    Parameters
    ----------
    images : (n_images, H, W) uint8
    n_textons, patch, n_train, n_test : int
        Length of a histogram, side of a patch in pixels, and patches drawn; no position is drawn
        twice.
    disjoint : bool, default=False
        False is the paper's way: training and test patches come from all over the same images, so
        that nearly every test patch shares pixels with training patches, and the textons have seen
        both. The error is then that of recognising areas already seen. True cuts each image at a
        column: training patches and textons come from the left part, test patches from the right,
        each part normalised and filtered on its own, so that no pixel has a say in both.
    random_state : int, default=0

    Notes
    -----
    The filters reach up to 18 pixels beyond a patch, into the rest of its image, or part.

    Examples
    --------
    >>> images = np.random.default_rng(0).integers(256, size=(2, 40, 60), dtype=np.uint8)
    >>> images[1] = np.sort(images[1], axis=0)
    >>> X, y, X_test, y_test = texton_histograms(images, n_textons=8, patch=12, n_train=50, n_test=20, disjoint=True)
    >>> X.shape, X_test.shape, bool(np.allclose((X**2).sum(axis=1), 1))
    ((50, 8), (20, 8), True)
    >>> nearest = np.argmax(X_test @ X.T, axis=1)
    >>> bool(np.mean(y[nearest] == y_test) > 0.9)
    True
    """
    bank, rng = filter_bank(), np.random.default_rng(random_state)
    cut = round(images.shape[-1] * n_train / (n_train + n_test))
    parts = [images[:, :, :cut], images[:, :, cut:]] if disjoint else [images]
    for part in parts:
        check(part, patch)
    textons = learn_textons(parts[0], bank, n_textons, random_state)
    maps = [texton_maps(part, bank, textons) for part in parts]
    if disjoint:
        train, test = draw(maps[0], n_train, patch, rng), draw(maps[1], n_test, patch, rng)
    else:
        train, test = np.split(draw(maps[0], n_train + n_test, patch, rng), [n_train])
    return (
        *histograms(maps[0], train, patch, n_textons),
        *histograms(maps[-1], test, patch, n_textons),
    )
