"""Real clients of the protocol, and what they find."""
