"""Simulated cascades beside real ones: `trees` measures both, `front` fits and compares."""
