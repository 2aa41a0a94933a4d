"""This engine beside what people would pick instead, in one run on one machine: `make bench`."""
