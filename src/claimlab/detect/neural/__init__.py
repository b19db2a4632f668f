"""Transformer encoders on PyTorch: loading, training, inference; the detectors built on them are in
`detectors/`.

Nothing here reads a record table, so that training runs on a machine that has PyTorch and
transformers and little else.
"""
