"""Engel, Mannor & Meir, *Sparse online greedy support vector regression*, ECML 2002."""
