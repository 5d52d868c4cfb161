"""Koppel, Warnell, Stump & Ribeiro 2019."""
