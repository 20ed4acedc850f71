"""Rules about the project itself that no other tool keeps, and proof that the tools keep theirs."""
