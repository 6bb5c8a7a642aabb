"""One page of the app per module."""
