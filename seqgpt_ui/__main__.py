"""``python -m seqgpt_ui``: the command line."""

import sys

from seqgpt_ui.cli import main

if __name__ == "__main__":
    sys.exit(main())
