"""What kernel and IPython magic share: the option grammar, how things show, the live view."""
