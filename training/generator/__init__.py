"""Synthetic training rows in Chinese and English, made from sentence patterns and word lists."""

from training.generator.stream import generate

__all__ = ["generate"]
