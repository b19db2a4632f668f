"""Simulation for claimlab: claims that spread and change in a society of agents, and benchmark text
that is made and filtered.

    import claimlab_simulate as sim

    evolved = sim.evolve("data", output="evolved")
    drifted = sim.drift(evolved, output="drift")

Once installed, claimlab has the commands `evolve` and `generate`, the same functions under its own
name (`claimlab.evolve`), and the steps of a study that need them.
"""

from __future__ import annotations

from claimlab.core.front_door import open_front_door
from claimlab_simulate.version import __version__ as __version__

open_front_door(__name__)
