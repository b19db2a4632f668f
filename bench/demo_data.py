"""Write the data of `claimlab demo`: synthetic claims with planted defects, their clean twin, and
fact-checks.

    python bench/demo_data.py [--place DIR]

The files come with the package (src/claimlab/core/data/demo). A test makes them again and
compares the bytes; run this after a change of parts/planted.py or of what a dataset holds.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

from harness import begin, parser
from parts.planted import CORE, DEFECTS, WHOLE, clean_twin, fact_checks, planted

from claimlab.core.demo import FOLDER

CHECKED = 240  # the first claims: enough to see every end of a search


def main() -> None:
    made = parser(__doc__)
    made.add_argument("--place", type=Path, default=FOLDER, help="folder to write to")
    place = begin(made).place
    shutil.rmtree(place, ignore_errors=True)
    write(place)
    print(f"Wrote {place}.")


def write(place: Path) -> None:
    dataset, truth = planted()
    dataset.write(place / "planted")
    clean_twin().write(place / "clean-twin")
    _keep(place / "truth.json", {"defects": DEFECTS, "records": truth.records})
    some = replace(dataset, records=dataset.records.head(CHECKED), files={})
    reviews, kinds = fact_checks(some)
    records = {
        kind: [record for record, its in kinds.items() if its == kind] for kind in (WHOLE, CORE)
    }
    _keep(place / "fact-checks.json", {"reviews": reviews, **records})


def _keep(file: Path, content: object) -> None:
    text = json.dumps(content, ensure_ascii=False, indent=1) + "\n"
    file.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
