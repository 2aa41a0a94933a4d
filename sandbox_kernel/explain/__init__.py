"""What a failed run tells people and models: the place in its source, and a hint what to write."""
