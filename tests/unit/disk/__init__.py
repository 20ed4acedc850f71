"""Sessions on a disk: the two backends, what they stand on, and the commands that look at them."""
