"""What Spin finds in models of the lifecycle. Spin is optional; its absence is said aloud."""
