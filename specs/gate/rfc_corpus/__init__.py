"""The gates of an RFC corpus: where an RFC lies, how it is written, what the index says.

The contract is `specs/rfc/README.md`. Nothing here needs the packages of this project, and nothing
of it is installed with them.
"""

__all__: list[str] = []
