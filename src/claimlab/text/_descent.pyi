import numpy as np
import numpy.typing as npt

def descend(
    values: npt.NDArray[np.float32],
    columns: npt.NDArray[np.int32],
    starts: npt.NDArray[np.int64],
    rows: npt.NDArray[np.int64],
    labels: npt.NDArray[np.int32],
    weights: npt.NDArray[np.float64],
    other_weights: npt.NDArray[np.float64],
    tolerance: float,
    most: int,
    seed: int,
    out: npt.NDArray[np.float64],
    /,
) -> None: ...
