"""Experiments: the papers' and our own, each a module that can be run."""
