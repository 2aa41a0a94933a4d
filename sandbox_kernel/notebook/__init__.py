"""What kernel and IPython magic share: a cell's run, its options, help while typing, how things show."""
