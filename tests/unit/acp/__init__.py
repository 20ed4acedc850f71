"""The bridge, a part at a time."""
