"""Types that every room shares."""

from __future__ import annotations

from typing import Any, TypeAlias

Json: TypeAlias = Any  # a value of JSON: what was read is looked at before it is used
JsonObject: TypeAlias = dict[str, Json]
Sparse: TypeAlias = Any  # a sparse matrix of SciPy, which has no types and takes long to import
