"""Detectors that people have: a function of texts, a fitted pipeline, and what loads one."""
