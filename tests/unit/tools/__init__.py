"""Tools: the registry, the arguments of a call, and what comes back."""
