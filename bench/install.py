"""Does claimlab install and work where its users are? Builds the source archive and the wheel, and
tries both.

    python bench/install.py wheel     # each Python from 3.11 on that is here; the archive without
                                      a C compiler; notebooks that install the wheel
    python bench/install.py extras    # each extra alone, in an environment of its own

`make wheel-test` and `make extras-test` run it. It needs the package index, and prints a line for
each trial.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

from harness import ROOT, begin, package_index, parser

WORK = ROOT / "build" / "install" / "".join(sys.argv[1:2])  # a folder for each kind of trial
VERSIONS = ("3.11", "3.12", "3.13")
SIMULATE = ROOT / "simulate"
HEAVY = {"encoder", "embeddings"}  # PyTorch: the Makefile names its build
# One job for each extra, in a few lines; what it prints is shown.
START = (
    "import claimlab as cl, polars as pl; from claimlab.core.demo import planted; data ="
    " planted()[0].head(120);"
)
JOBS = {
    "lingua": (
        "from lingua import LanguageDetectorBuilder as B; print(B.from_all_languages().build())"
    ),
    "tokens": (
        "import tiktoken; from claimlab.clean.token_counts import CL100K_SHA256;"
        " print(tiktoken.__version__)"
    ),
    "pandas": f"{START} print(data.to_pandas().shape)",
    "llm": (
        f"import sys; sys.path.insert(0, {str(ROOT / 'bench')!r})\n"
        f"from pathlib import Path; from parts.standin import StandIn\n{START}\nwith"
        " StandIn() as server:\n    Path('lab.toml').write_text(f'[lab]\\nbase_url ="
        ' "{server.url}"\\nmodel = "m"\\n\')\n    print(cl.detect(data, \'llm-zero-shot\','
        " profile='lab.toml', limit=5))"
    ),
    "local-llm": (
        "import xllamacpp; from claimlab.llm.weights import installed; print('weights here:',"
        " installed())"
    ),
    "encoder": (
        "from claimlab.detect.fine_tuning import require_torch, require_transformers\n"
        "print(require_torch().__version__, require_transformers().__version__)"
    ),
    "vectors": (
        "from claimlab.text.vectors import encode; print(encode(['A mill.', 'Um moinho.']).shape)"
    ),
    "models": f"{START} print(cl.audit(data, protocol='cdl', checks='time'))",
    "translate": (
        "from claimlab_simulate.generate.translate import engine_name; print(engine_name())"
    ),
    "embeddings": f"{START} print(cl.detect(data, 'sentence', limit=120))",
    "web": (
        "from pathlib import Path; from claimlab.web.app import create_app;"
        " print(create_app(Path('.')).title)"
    ),
    "postgres": "import psycopg; print(psycopg.pq.version())",
    "dask": f"{START} print(cl.clean(data, engine='dask'))",
    "media": "from claimlab.files.media import can_look; assert can_look(); print('pdqhash')",
    "mcp": "from claimlab.web.mcp import docs; print(docs('audit')[0])",
    "remote": (
        "import s3fs, fsspec; from claimlab.core.remote import is_remote;"
        " print(is_remote('s3://a/b'))"
    ),
}


def pythons() -> dict[str, str]:
    """The interpreters of each version that are on PATH, or that pyenv keeps."""
    found = {
        version: path
        for version in VERSIONS
        if (path := shutil.which(f"python{version}")) and _works(path)
    }
    root = os.environ.get("PYENV_ROOT") or _said(["pyenv", "root"])
    for version in VERSIONS:
        kept = sorted(Path(root).glob(f"versions/{version}.*/bin/python")) if root else []
        if version not in found and kept:
            found[version] = str(kept[-1])
    return found


def _works(path: str) -> bool:
    return (
        subprocess.run([path, "-c", "import venv, ensurepip"], capture_output=True).returncode == 0
    )


def _said(command: list[str]) -> str:
    try:
        return subprocess.run(command, capture_output=True, text=True).stdout.strip()
    except OSError:
        return ""


def environment(name: str, python: str) -> Path:
    """A new virtual environment; its interpreter."""
    folder = WORK / name
    shutil.rmtree(folder, ignore_errors=True)
    call([python, "-m", "venv", str(folder)])
    return folder / "bin" / "python"


def call(command: list[str], cwd: Path | None = None, **more: str) -> str:
    """Run a command outside the repository's own packages; what it printed, or its error."""
    env = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"} | {"NO_COLOR": "1"} | more
    process = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True)
    if process.returncode:
        raise SystemExit(
            f"failed: {' '.join(command)}\n{process.stdout[-2000:]}\n{process.stderr[-3000:]}"
        )
    return process.stdout.strip()


def pip(python: Path, *what: str, **more: str) -> None:
    base = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    call([*base, "-c", str(ROOT / "constraints.txt"), *what], **more)


def build() -> Path:
    """The source archive."""
    dist = WORK / "dist"
    shutil.rmtree(dist, ignore_errors=True)
    dist.mkdir(parents=True)
    python = environment("builder", sys.executable)
    package_index(python)
    call([str(python), "-m", "pip", "install", "--quiet", "setuptools>=77"])
    call(
        [
            str(python),
            "-c",
            f"from setuptools.build_meta import build_sdist; build_sdist({str(dist)!r})",
        ],
        cwd=ROOT,
    )
    (archive,) = dist.glob("*.tar.gz")
    return archive


def wheel_of(archive: Path, python: str) -> Path:
    """The wheel for an interpreter, built from the archive and nothing else."""
    folder = WORK / "dist" / Path(python).name
    shutil.rmtree(folder, ignore_errors=True)
    inside = environment("builder", python)
    call(
        [str(inside), "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", str(folder), str(archive)]
    )
    (wheel,) = folder.glob("*.whl")
    return wheel


def tried(name: str, python: str, package: Path, **more: str) -> None:
    """Install, import, run the demo, and say whether the compiled code is there."""
    inside = environment(name, python)
    pip(inside, str(package), **more)
    place = WORK / f"{name}-demo"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    call(
        [str(inside), "-c", "import claimlab as cl; cl.load, cl.audit; assert cl.__version__"],
        cwd=place,
    )
    call([str(inside.parent / "claimlab"), "demo", "-o", "demo"], cwd=place)
    pip(inside, str(ROOT / "simulate"), **more)
    call([str(inside.parent / "claimlab"), "evolve", "--help"], cwd=place)
    checks = json.loads(call([str(inside.parent / "claimlab"), "doctor", "--json"], cwd=place))[
        "Installation"
    ]
    words = {row["name"]: row["detail"] for row in checks}
    compiled = "compiled" if words["near-duplicates"] == "compiled" else "NumPy code"
    print(
        f"{name}: {package.name} on Python {words['Python']}: import, demo ({compiled})", flush=True
    )
    if ("CC" in more) == (compiled == "compiled"):
        raise SystemExit(
            f"{name}: the compiled code is {'there' if compiled == 'compiled' else 'not there'}"
        )


def notebooks(python: str, wheel: Path) -> None:
    """The notebooks as on a hosted notebook server: where only Jupyter is installed, their first
    cell installs the wheel."""
    inside, place = environment("notebooks", python), WORK / "notebooks-run"
    pip(inside, "ipykernel", "nbclient")
    shutil.rmtree(place, ignore_errors=True)
    for file in sorted((ROOT / "docs" / "notebooks").glob("*.ipynb")):
        content = json.loads(file.read_text("utf-8"))
        install = {**content["cells"][1], "id": "install", "cell_type": "code", "outputs": []}
        install |= {
            "execution_count": None,
            "source": f"%pip install --quiet {wheel} {ROOT / 'simulate'}",
        }
        content["cells"].insert(0, install)
        copy = place / file.stem / file.name  # the first folder that a notebook writes is its own
        copy.parent.mkdir(parents=True)
        copy.write_text(json.dumps(content), "utf-8")
        call([str(inside.parent / "jupyter-execute"), file.name], cwd=copy.parent)
        print(f"notebook {file.stem}: installs {wheel.name} and runs", flush=True)


def test_wheel(names: list[str]) -> None:
    """`names`: only these versions, "none" for the archive without a compiler, and "notebooks"."""
    archive, here = build(), pythons()
    for version, python in here.items():
        if version in (names or here):
            tried(f"wheel-{version}", python, wheel_of(archive, python))
    if not names or "none" in names:
        tried("no-compiler", next(iter(here.values())), archive, CC="false", CXX="false")
    if not names or "notebooks" in names:
        python = next(iter(here.values()))
        notebooks(python, wheel_of(archive, python))
    for version in set(VERSIONS) - set(here):
        print(f"Python {version} is not here: not tried")


def extras_of(folder: Path) -> set[str]:
    """Those for users."""
    project = tomllib.loads((folder / "pyproject.toml").read_text("utf-8"))["project"]
    return set(project["optional-dependencies"]) - {"dev", "dev-all", "bench"}


def test_extras(names: list[str]) -> None:
    wheel = wheel_of(build(), sys.executable)
    base = WORK / "base" / "bin" / "python"
    if not base.exists():
        pip(environment("base", sys.executable), str(wheel))
    shared = call([str(base), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"])
    assert {*extras_of(ROOT), *extras_of(SIMULATE)} == set(JOBS), "give every extra its job"
    place = WORK / "jobs"
    for extra in names or JOBS:
        inside = environment(f"extra-{extra}", sys.executable)
        own = call([str(inside), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"])
        Path(own, "base.pth").write_text(shared)  # claimlab without extras, installed once for all
        if extra in HEAVY:
            pip(inside, os.environ.get("TORCH", "torch"))
        its = [f"{wheel}[{extra}]"] if extra in extras_of(ROOT) else [wheel, f"{SIMULATE}[{extra}]"]
        pip(inside, *map(str, its))
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        try:
            words = job(inside, extra, place)
        except SystemExit as error:
            words = f"FAILED {error}"
        print(f"{extra}: {words}", flush=True)
        shutil.rmtree(inside.parents[1])


def job(python: Path, extra: str, place: Path) -> str:
    """What the job printed, or the sentence by which claimlab says why it cannot be done here."""
    lines = "\n".join(f"    {line}" for line in JOBS[extra].splitlines())
    code = (
        "from claimlab.core.errors import ClaimlabError\n"
        f"try:\n{lines}\nexcept ClaimlabError as error:\n    print('says:', error)"
    )
    return call([str(python), "-c", code], cwd=place).splitlines()[-1]


if __name__ == "__main__":
    made = parser(__doc__)
    made.add_argument("what", choices=["wheel", "extras"])
    made.add_argument("names", nargs="*", help="only these extras, or versions of Python")
    chosen = begin(made)
    os.environ.pop("PYTHONPATH", None)  # what was installed is tried, not this checkout
    (test_wheel if chosen.what == "wheel" else test_extras)(chosen.names)
