"""Public failure reports as scenarios, each run under every nearly ordinary schedule."""
