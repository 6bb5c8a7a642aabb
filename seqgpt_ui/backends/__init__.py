"""Backends: the only place where a device operation happens."""
