"""The executor and its tools, piece by piece, on the deterministic stage."""
