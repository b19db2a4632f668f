import numpy as np
import numpy.typing as npt

def grow(
    column: npt.NDArray[np.int64],
    order: npt.NDArray[np.int64],
    below: npt.NDArray[np.int64],
    start: npt.NDArray[np.int32],
    highest: npt.NDArray[np.int32],
    counts: npt.NDArray[np.int32],
    allowed: npt.NDArray[np.bool_] | bytes,
    classes: int,
    leaves: int,
    least_rows: float,
    least_gain: float,
    tiny: float,
    out: npt.NDArray[np.int64],
    splits: npt.NDArray[np.int64],
    /,
) -> None: ...
