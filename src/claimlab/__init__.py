"""claimlab: from raw misinformation data to a number you can defend.

    import claimlab as cl

    dataset = cl.load("liar", "liar.zip")
    findings = cl.audit(dataset)
    findings.save("report")

Every verb of the command line is a function here, with the same options. A function is imported
when it is first used, so that `import claimlab` costs next to nothing.
"""

from __future__ import annotations

from claimlab.core.front_door import open_front_door
from claimlab.core.version import __version__ as __version__

open_front_door(__name__)
