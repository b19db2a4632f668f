"""Recipes: the built-in ones are whole, and a wrong one is told in a sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

from claimlab.clean.recipe import built_in, load_recipe, parse_recipe
from claimlab.core.errors import ClaimlabError


@pytest.mark.parametrize("name", built_in())
def test_built_in_recipes(name: str) -> None:
    recipe = load_recipe(name)
    assert recipe.name == name
    assert recipe.note
    assert recipe.stages


def test_both_recipes_of_the_docs_are_there() -> None:
    assert {"default", "pt-afc"} <= set(built_in())


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[[steps]]\nstep = "to-short"', "Did you mean 'too-short'"),
        ('[[steps]]\nstep = "too-short"\nminimun = 3', "Did you mean 'minimum'"),
        ('[[steps]]\nstep = "too-short"\nminimum = "many"', "cannot have minimum = 'many'"),
        ('[[steps]]\nstep = "decisions"\ndecisions = "x"', "no parameter of the step 'decisions'"),
        ('[[steps]]\nstep = "language"\nkeep = "klingonese"', "not a language code"),
        ("steps = []", "lists no steps"),
        ("nonsense", "not valid TOML"),
        ('author = "x"', "has 'author'"),
        ('protect = "test"\n[[steps]]\nstep = "too-short"', "protect = 'test'"),
    ],
)
def test_a_wrong_recipe_is_told(text: str, said: str) -> None:
    with pytest.raises(ClaimlabError) as told:
        parse_recipe(text, "mine.toml")
    assert said in str(told.value)


def test_a_recipe_says_which_parts_it_keeps() -> None:
    step = '[[steps]]\nstep = "too-short"'
    assert parse_recipe(step, "mine.toml").protect == ("test",)
    assert parse_recipe(f'protect = ["dev"]\n{step}', "mine.toml").protect == ("dev",)
    assert load_recipe("pt-afc").protect == (), "its published counts are of all parts alike"


def test_a_recipe_file(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(
        '[[steps]]\nstep = "too-short"\nminimum = 9\ndatasets = ["a"]\n', encoding="utf-8"
    )
    recipe = load_recipe(file)
    assert (recipe.name, recipe.stages[0].parameters, recipe.stages[0].datasets) == (
        "mine",
        {"minimum": 9},
        ("a",),
    )
    with pytest.raises(ClaimlabError, match="no recipe file"):
        load_recipe(tmp_path / "other.toml")
    with pytest.raises(ClaimlabError, match="Did you mean 'pt-afc'"):
        load_recipe("pt-acf")
