"""Pothin & Richard, *Online learning with kernels*, MLSP 2006.

The full title is *Online learning with kernels: a new approach for sparsity control based on a
coherence criterion*.
"""
