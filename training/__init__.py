"""Builds data, tokenizer and the demo model, and evaluates any checkpoint of the same architecture."""
