"""Honeine, Richard & Bermudez, *On-line nonlinear sparse approximation of functions*, ISIT 2007."""
