"""The prompt format in one place: how prompts are written, which answers are legal, how answers are read."""
