"""Pothin & Richard, *Online learning with kernels: a new approach for sparsity control based on a
coherence criterion*, MLSP 2006.
"""
