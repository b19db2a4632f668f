"""The files of the pages on Slurm and Kubernetes: what a page shows is the file, a validator
accepts it, and it works.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from parts.planted import planted

import claimlab as cl
from claimlab.cli.lazy import LazyVerbs
from claimlab.core.engine.secret import VARIABLE

DOCS = Path(__file__).parents[2] / "docs"
FILES = DOCS / "assets" / "cluster"
SCRIPTS = ["run.sbatch", "work.sbatch"]
# Options of sbatch that the scripts may use, and what a value looks like (from its manual page).
OPTIONS = {
    "job-name": r"[\w-]+", "array": r"0-\d+(%\d+)?", "ntasks": r"\d+", "cpus-per-task": r"\d+", "mem": r"\d+[KMGT]",
    "time": r"(\d+-)?\d{1,2}:\d{2}:\d{2}", "requeue": r"", "output": r"[\w%./-]+",
}  # fmt: skip


@pytest.mark.parametrize(
    ("page", "file"),
    [("slurm.md", SCRIPTS[0]), ("slurm.md", SCRIPTS[1]), ("kubernetes.md", "kubernetes.yaml")],
)
def test_the_page_shows_the_file(page: str, file: str) -> None:
    blocks = re.findall(
        rf'```\w+ title="{re.escape(file)}"\n(.*?)\n```', (DOCS / page).read_text(), re.DOTALL
    )
    assert blocks == [(FILES / file).read_text().rstrip()]


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_batch_script_is_sound(name: str) -> None:
    text = (FILES / name).read_text()
    lines = text.splitlines()
    assert lines[0] == "#!/bin/bash"
    last = max(i for i, line in enumerate(lines) if line.startswith("#SBATCH"))
    assert all(line.startswith("#") for line in lines[:last]), (
        "sbatch reads no option below the first command"
    )
    for option in re.findall(r"^#SBATCH --(\S+)", text, re.MULTILINE):
        key, _, value = option.partition("=")
        assert re.fullmatch(OPTIONS[key], value), option
    assert subprocess.run(["bash", "-n", str(FILES / name)], check=False).returncode == 0
    if (checker := shutil.which("shellcheck")) is not None:
        assert subprocess.run([checker, str(FILES / name)], check=False).returncode == 0
    assert not re.search(
        r"(?<!\")\$\{?[A-Z0-9@]", re.sub(r"^#.*$", "", text, flags=re.MULTILINE)
    ), "quote variables"


@pytest.mark.slow
def test_the_scripts_run_a_command_with_an_array_of_workers(tmp_path: Path) -> None:
    """`srun` is a stand-in that runs its command; all else is real: the scripts, the leading job,
    and two tasks.
    """
    planted(size=120)[0].write(tmp_path / "data")
    commands = tmp_path / "bin"
    commands.mkdir()
    main = "from claimlab.cli.app import main; main()"
    for name, line in {
        "srun": 'exec "$@"',
        "claimlab": f'exec "{sys.executable}" -c "{main}" "$@"',
    }.items():
        (commands / name).write_text(f"#!/bin/bash\n{line}\n")
        (commands / name).chmod(0o755)
    source = str(Path(cl.__file__).parents[1])
    env = {
        **os.environ,
        "PATH": f"{commands}:{os.environ['PATH']}",
        "PYTHONPATH": source,
        "CLAIMLAB_ENGINE_WAIT": "240",
    }

    def start(script: str, *words: str, **more: str) -> subprocess.Popen[str]:
        command = ["bash", str(FILES / script), *words]
        return subprocess.Popen(
            command, cwd=tmp_path, env={**env, **more}, stderr=subprocess.PIPE, text=True
        )

    words = ["audit", "data", "--check", "length", "--check", "one-class"]
    tasks = [
        start("work.sbatch", "shared", SLURM_ARRAY_TASK_ID=str(n), SLURM_ARRAY_TASK_COUNT="2")
        for n in range(2)
    ]
    jobs = [start("run.sbatch", *words, "-o", "shared"), *tasks]
    messages = [job.communicate(timeout=240)[1] for job in jobs]
    assert [job.returncode for job in jobs] == [0, 0, 0], messages
    alone = subprocess.run(
        [commands / "claimlab", *words, "-o", "alone"], cwd=tmp_path, env=env, check=False
    )
    assert alone.returncode == 0
    assert bytes_of(tmp_path / "shared") == bytes_of(tmp_path / "alone")


def bytes_of(folder: Path) -> dict[str, bytes]:
    return {
        file.relative_to(folder).as_posix(): file.read_bytes()
        for file in folder.rglob("*")
        if file.is_file()
    }


def manifests() -> list[dict[str, Any]]:
    return list(yaml.safe_load_all((FILES / "kubernetes.yaml").read_text()))


@pytest.mark.needs("kubernetes_validate")
def test_the_manifest_is_valid() -> None:
    import kubernetes_validate

    for one in manifests():
        kubernetes_validate.validate(one, kubernetes_validate.latest_version(), strict=True)
    broken = manifests()[2]
    broken["spec"]["completionmode"] = broken["spec"].pop("completionMode")
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(broken, kubernetes_validate.latest_version(), strict=True)


def test_the_manifest_fits_together() -> None:
    claim, leader, workers = manifests()
    for job in (leader, workers):
        volume = job["spec"]["template"]["spec"]["volumes"][0]
        assert volume["persistentVolumeClaim"]["claimName"] == claim["metadata"]["name"]
        _refuse_unknown_options(_command(job))
        container = job["spec"]["template"]["spec"]["containers"][0]
        secret = {one["name"]: one.get("valueFrom") for one in container["env"]}[VARIABLE]
        assert secret == {"secretKeyRef": {"name": "claimlab-secret", "key": "secret"}}
    assert (
        "create secret generic claimlab-secret --from-literal=secret="
        in (DOCS / "kubernetes.md").read_text()
    )
    work, lead = _command(workers), _command(leader)
    assert workers["spec"]["completionMode"] == "Indexed"  # only then is JOB_COMPLETION_INDEX set
    assert (
        int(work[work.index("--of") + 1])
        == workers["spec"]["completions"]
        == workers["spec"]["parallelism"]
    )
    assert work[3] == lead[lead.index("-o") + 1]
    assert lead[lead.index("--engine") + 1] == "shared"


def _command(job: dict[str, Any]) -> list[str]:
    command: list[str] = job["spec"]["template"]["spec"]["containers"][0]["command"]
    return command


def _refuse_unknown_options(command: list[str]) -> None:
    verb: Any = LazyVerbs().get_command(None, command[1])
    one = getattr(verb, "commands", {}).get(command[2], verb)
    known = {option for parameter in one.params for option in parameter.opts}
    assert {word for word in command if word.startswith("-")} <= known
