"""Transformer encoders on PyTorch: found, trained and asked here; the detectors built on them stand in `detectors/`.

Nothing here reads a record table, so that training runs on a machine that has PyTorch and transformers and little else.
"""
