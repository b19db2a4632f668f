"""Predictions made elsewhere, read strictly."""
