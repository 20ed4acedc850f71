"""The gates of the RFC corpus, each refusal shown on a text of our own."""
