"""Real text with one wrong detail: units, currencies, dates, invented clauses and self-reviews, in
English, Portuguese and Spanish, and the same texts untouched.

An article of four sentences about invented places, a rewrite with its sentences in another order,
its translation, and a post. One slot of a sample is then spoilt, the article, the translation or
the post in turn. Clauses and reviews were written by the author of the filter, before it was run on
them: a fair test would be written by somebody else.
"""

from __future__ import annotations

import random

import polars as pl

from claimlab.core.dataset import Dataset
from claimlab.core.stats.streams import stream
from claimlab.core.types import JsonObject
from claimlab_simulate.generate.sample import GeneratedSample, original, rows

LANGUAGES = ("eng", "por", "spa")
KINDS = {
    "unit": {"details"},
    "currency": {"details"},
    "date": {"details"},
    "invented-clause": {"invention", "details"},
    "self-review": {"structure", "invention"},
}
SLOTS = ("article", "article-translation", "post")
TEMPLATES = {
    "eng": (
        "The council of {place} approved {money} {pounds} to repair the old bridge on {date}.",
        "Work on the bridge began {weeks} weeks later and reached a length of {length} kilometres.",
        "Engineers measured {weight} tonnes of steel in the pillars of {place}.",
        "The mayor said that {share} percent of the residents use the bridge every day.",
    ),
    "por": (
        "O conselho de {place} aprovou {money} {pounds} para o conserto da velha ponte em {date}.",
        "As obras na ponte começaram {weeks} semanas depois e alcançaram {length} quilômetros.",
        "Engenheiros mediram {weight} toneladas de aço nos pilares de {place}.",
        "A prefeita disse que {share} por cento dos moradores usam a ponte todos os dias.",
    ),
    "spa": (
        "El consejo de {place} aprobó {money} {pounds} para reparar el viejo puente el {date}.",
        "Las obras del puente empezaron {weeks} semanas después y alcanzaron {length} kilómetros.",
        "Los ingenieros midieron {weight} toneladas de acero en los pilares de {place}.",
        "La alcaldesa dijo que el {share} por ciento de los vecinos usa el puente cada día.",
    ),
}
MONTHS = {
    "eng": ("March", "June", "September", "November"),
    "por": ("março", "junho", "setembro", "novembro"),
    "spa": ("marzo", "junio", "septiembre", "noviembre"),
}
POUNDS = {"eng": "million pounds", "por": "milhões de libras", "spa": "millones de libras"}
EUROS = {"eng": "million euros", "por": "milhões de euros", "spa": "millones de euros"}
UNITS = {
    "eng": (("kilometres", "miles"), ("tonnes", "kilograms"), ("weeks", "months")),
    "por": (("quilômetros", "milhas"), ("toneladas", "quilos"), ("semanas", "meses")),
    "spa": (("kilómetros", "millas"), ("toneladas", "kilos"), ("semanas", "meses")),
}
PLACES = ("Velmore", "Ostrel", "Marisett", "Torvalden", "Quillham", "Brannock")
CLAUSES = {
    "eng": (
        "It is part of a programme to improve the health of children in rural schools.",
        "Local farmers have complained about falling prices for milk and cheese.",
        "A famous singer gave a free concert on the same evening.",
        "The opposition party has demanded the resignation of two ministers.",
        "Scientists hope to find a cure for the disease within a decade.",
        "Tourists from abroad praised the hotels and the beaches of the region.",
        "The national football team won its match against its old rival.",
        "Critics called the decision a scandal and a waste of public money.",
        "Two members of the staff were later arrested on charges of bribery.",
        "{place} was once famous for its shipyards and its whaling fleet.",
    ),
    "por": (
        "Faz parte de um programa para melhorar a saúde das crianças nas escolas rurais.",
        "Agricultores locais reclamaram da queda dos preços do leite e do queijo.",
        "Uma cantora famosa fez um show gratuito na mesma noite.",
        "O partido da oposição exigiu a renúncia de dois ministros.",
        "Cientistas esperam encontrar a cura da doença em uma década.",
        "Turistas estrangeiros elogiaram os hotéis e as praias da região.",
        "A seleção de futebol venceu a partida contra o antigo rival.",
        "Críticos chamaram a decisão de escândalo e desperdício de dinheiro público.",
        "Funcionários foram depois presos sob acusação de corrupção.",
        "{place} é também conhecida pelas vinícolas e pelo carnaval de rua.",
    ),
    "spa": (
        "Forma parte de un programa para mejorar la salud de los niños en las escuelas rurales.",
        "Los agricultores locales se quejaron de la caída de los precios de la leche y el queso.",
        "Una cantante famosa dio un concierto gratuito esa misma noche.",
        "El partido de la oposición exigió la dimisión de dos ministros.",
        "Los científicos esperan encontrar una cura para la enfermedad en una década.",
        "Turistas extranjeros elogiaron los hoteles y las playas de la región.",
        "La selección de fútbol ganó su partido contra su viejo rival.",
        "Los críticos calificaron la decisión de escándalo y derroche de dinero público.",
        "Varias aerolíneas suspendieron sus vuelos nocturnos por una huelga.",
        "{place} fue famosa por sus astilleros y su flota ballenera.",
    ),
}
REVIEWS = {
    "eng": (
        "The translation is natural and fluent in Spanish.",
        "This article accurately conveys the information about the council's approval.",
        "I have kept all names and figures of the original.",
        "The text reads well and needs no further changes.",
        "Note: the tone of the source was preserved throughout.",
        "Here is the post you asked for.",
        "The rewritten version is clearer than before.",
        "No facts were changed in this rewrite.",
        "I hope this rewrite meets your needs.",
        "The revised text is shorter and easier to follow.",
        "Let me know if you would like a different tone.",
        "This version follows the structure of the source text.",
    ),
    "por": (
        "A tradução é natural e fluente em espanhol.",
        "Este artigo transmite com precisão as informações sobre a aprovação do conselho.",
        "Mantive todos os nomes e números do original.",
        "O texto lê-se bem e não precisa de mais mudanças.",
        "Nota: o tom da fonte foi preservado em todo o texto.",
        "Aqui está a postagem que você pediu.",
        "A versão reescrita está mais clara do que antes.",
        "Nenhum fato foi alterado nesta reescrita.",
        "Espero que a reescrita seja útil.",
        "O texto revisado ficou mais curto e mais fácil de ler.",
        "Se quiser outro tom, é só avisar.",
        "Esta versão segue a estrutura do texto original.",
    ),
    "spa": (
        "La traducción es natural y fluida en español.",
        "Este artículo transmite con precisión la información sobre la aprobación del consejo.",
        "He conservado todos los nombres y cifras del original.",
        "El texto se lee bien y no necesita más cambios.",
        "Nota: se mantuvo el tono de la fuente en todo el texto.",
        "Aquí está la publicación que pediste.",
        "La versión reescrita es más clara que antes.",
        "Ningún dato fue modificado en esta reescritura.",
        "Espero que la reescritura sea útil.",
        "El texto revisado es más corto y más fácil de leer.",
        "Si quieres otro tono, avísame.",
        "Esta versión sigue la estructura del texto original.",
    ),
}


def planted_details(each: int, seed: int = 20) -> tuple[Dataset, dict[tuple[str, str], list[str]]]:
    """`each` samples of every kind and language, as many untouched ones of each language, and the
    ids by kind ("untouched" among them) and by the language of the spoilt slot.
    """
    records: list[JsonObject] = []
    truth: dict[tuple[str, str], list[str]] = {}
    for kind in ("untouched", *KINDS):
        for language in LANGUAGES:
            for i in range(each):
                name = f"{kind}-{language}-{i:03d}"
                records += _sample(
                    name, kind, language, SLOTS[i % 3], stream(seed, kind, language, i)
                )
                truth.setdefault((kind, language), []).append(name)
    return Dataset.build("planted-details", pl.DataFrame(records, infer_schema_length=None)), truth


def _sample(
    name: str, kind: str, language: str, slot: str, draw: random.Random
) -> list[JsonObject]:
    """The spoilt slot is in `language`; the other texts are in the next one where it must be."""
    other = LANGUAGES[(LANGUAGES.index(language) + 1) % 3]
    first, second = (other, language) if "translation" in slot else (language, other)
    facts = {
        "place": draw.choice(PLACES),
        "money": draw.randrange(2, 90),
        "weeks": draw.randrange(15, 40),
        "length": draw.randrange(41, 90),
        "weight": draw.randrange(120, 900),
        "share": draw.randrange(91, 99),
        "date": (draw.randrange(1, 28), draw.randrange(4), draw.randrange(1990, 2024)),
    }
    order = draw.sample(range(4), 4)
    source = _text(first, facts, range(4))
    texts = {
        "article": _text(first, facts, order),
        "article-translation": _text(second, facts, order),
        "post": _text(first, facts, (0, order[0] or 1)),
        "post-translation": _text(second, facts, (0, order[0] or 1)),
    }
    texts[slot] = _spoilt(texts[slot], kind, language, facts, draw)
    record = {"id": f"{name}-seed", "text": source, "kind": "article", "language": first}
    record |= {"veracity": "true", "label_raw": "true", "topic": "planted", "source": "planted"}
    languages = {field: second if "translation" in field else first for field in texts}
    made = GeneratedSample(
        name,
        record,
        "real",
        "moderate",
        texts,
        languages,
        {"model": "planted", "made_by": "planted"},
        [],
        {},
    )
    return [original(record), *rows(made)]


def _text(language: str, facts: JsonObject, order: object) -> str:
    day, month, year = facts["date"]
    of = " " if language == "eng" else " de "
    words = {**facts, "pounds": POUNDS[language]}
    words["date"] = of.join((str(day), MONTHS[language][month], str(year)))
    return " ".join(TEMPLATES[language][i].format(**words) for i in order)  # type: ignore[attr-defined]


def _spoilt(text: str, kind: str, language: str, facts: JsonObject, draw: random.Random) -> str:
    if kind == "unit":
        known = [pair for pair in UNITS[language] if pair[0] in text]
        before, after = draw.choice(known or [(POUNDS[language], POUNDS[language][3:])])
        return text.replace(before, after)
    if kind == "currency":
        return text.replace(POUNDS[language], EUROS[language])
    if kind == "date":
        day, month, year = facts["date"]
        words = MONTHS[language]
        return draw.choice(
            (
                text.replace(words[month], words[(month + 1) % 4]),
                text.replace(str(year), str(year + 1)),
                text.replace(f" {day} ", f" {day + 1} "),
            )
        )
    added = {"invented-clause": CLAUSES, "self-review": REVIEWS}.get(kind)
    return f"{text} {draw.choice(added[language]).format(**facts)}" if added else text
