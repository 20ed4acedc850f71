"""The plugin context, piece by piece, on the deterministic stage."""
