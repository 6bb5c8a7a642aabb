"""Guides: which tokens may follow, decided by immutable states that a beam can copy."""
