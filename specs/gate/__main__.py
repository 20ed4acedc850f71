"""Run the gates of the RFC corpus: `python specs/gate verify-format [ROOT]`."""

import sys

from rfc_corpus.commands import main

sys.exit(main(sys.argv[1:]))
