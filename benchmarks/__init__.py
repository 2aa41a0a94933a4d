"""Compares this engine with its alternatives, in one run on one machine: `make bench`."""
