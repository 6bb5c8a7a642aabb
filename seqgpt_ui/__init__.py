"""SeqGPT-560M as software: classification and extraction by labels, in Chinese and English."""

__version__ = "0.1.0"
