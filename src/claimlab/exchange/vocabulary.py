"""What people call their columns, best name first, in the spellings and languages that datasets are published in.

Names are compared folded: claimReviewed, Claim_Reviewed and "claim reviewed" are one name, accents do not count.
"""

from __future__ import annotations

import re
import unicodedata

from claimlab.core import packaged

TEXT = (
    "text", "claim", "claim text", "statement", "tweet", "tweet text", "full text", "content", "post text", "post",
    "claim reviewed", "message", "body", "article text", "article body", "article", "news", "sentence", "sentences",
    "caption", "title text", "utterance", "comment", "title", "headline", "description", "abstract", "document",
    "input", "quote", "texto", "alegacao", "afirmacao", "declaracao", "noticia", "mensagem", "conteudo", "tuite",
    "titulo", "manchete", "afirmacion", "declaracion", "bulo", "mensaje", "contenido", "tuit", "titular", "texte",
    "affirmation", "declaration", "contenu", "titre", "aussage", "behauptung", "inhalt", "nachricht", "titel",
    "schlagzeile", "testo", "affermazione", "dichiarazione", "notizia", "contenuto", "titolo", "claim en",
    "claim original", "claim s", "news text", "news title", "news content", "text en", "original text", "claims",
)  # fmt: skip
LABEL = (
    "label raw", "label", "verdict", "veracity", "rating", "truth rating", "claim label", "gold label", "class",
    "alternate name", "alternative name", "textual rating", "review rating", "rating name", "truth", "truthfulness",
    "factuality", "veracity label", "binary label", "2 way label", "target", "ground truth", "gold", "labels",
    "is fake", "fake", "misinformation", "is misinfo", "is misinformation", "category label", "stance", "annotation",
    "ruling", "veredito", "veredicto", "classificacao", "avaliacao", "rotulo", "etiqueta", "selo", "veracidade",
    "veracidad", "calificacion", "clasificacion", "conclusion", "verdetto", "valutazione", "etichetta", "bewertung",
    "urteil", "einstufung", "note", "evaluation", "jugement", "annotation1", "label text", "label name", "label id",
    "class label", "y",
)  # fmt: skip
# Names of label columns that leave open whether "true" means a true claim.
UNCLEAR = frozenset({
    "class", "target", "is fake", "fake", "misinformation", "is misinfo", "is misinformation", "category label",
    "stance", "annotation", "annotation1", "y", "binary label", "2 way label", "labels", "note", "evaluation",
})  # fmt: skip
# Names that say what a yes (1, true) in the column means: a false claim, or a true one.
ALL_FALSE = frozenset({
    "is fake", "fake", "fake flag", "is fake news", "fake news", "fakenews", "isfake", "misinformation", "is misinfo",
    "misinfo", "is misinformation", "disinformation", "is disinformation", "is false", "false", "hoax", "is hoax",
    "desinformacao", "desinformacion", "falso", "falsa", "es falso", "e falso", "es falsa", "bulo", "boato", "faux",
    "falsch", "фейк", "yalan", "sahte",
})  # fmt: skip
ALL_TRUE = frozenset({
    "is true", "true", "is real", "real", "isreal", "is authentic", "authentic", "is factual", "factual", "is genuine",
    "genuine", "is legit", "verdadeiro", "verdadeira", "verdadero", "es verdadero", "vrai", "wahr", "vero",
})  # fmt: skip
ID = (
    "id", "uid", "uuid", "guid", "record id", "claim id", "item id", "news id", "article id", "post id", "public id",
    "doc id", "document id", "text id", "sample id", "example id", "statement id", "index id", "key", "path",
    "codigo", "identificador", "kennung", "nr",
)  # fmt: skip
TWEET_ID = (
    "tweet id", "tweetid", "status id", "statusid", "id str", "tweet no", "twitter id", "id tweet", "tweet ids",
)  # fmt: skip
DATE = (
    "date", "claim date", "date published", "published", "publish date", "published at", "publication date",
    "pub date", "created at", "created utc", "create date", "status created at", "datetime", "timestamp", "time",
    "posted at", "post date", "review date", "date posted", "tweet date", "data", "data publicacao",
    "data de publicacao", "publicado em", "fecha", "fecha de publicacion", "datum", "veroffentlicht",
    "date de publication", "data pubblicazione", "created", "date created", "posted", "posted on", "year", "ano",
)  # fmt: skip
LANGUAGE = ("language", "lang", "locale", "idioma", "lingua", "langue", "sprache", "iso639", "language code")
URL = (
    "url", "link", "claim url", "news url", "post url", "article url", "source url", "tweet url", "review url",
    "fact check url", "fact url", "href", "permalink", "endereco", "enlace", "lien", "uri",
)  # fmt: skip
AUTHOR = (
    "author", "authors", "speaker", "claimant", "claimer", "user", "username", "user name", "screen name",
    "tweet user", "person", "byline", "creator", "autor", "autora", "falante", "usuario", "auteur", "verfasser",
    "sprecher", "autore",
)  # fmt: skip
SOURCE = (
    "source", "publisher", "site", "domain", "website", "agency", "outlet", "media", "newspaper", "platform", "page",
    "subreddit", "claim source", "fact checker", "organization", "fonte", "veiculo", "agencia", "fuente", "medio",
    "quelle", "medium", "editeur", "testata", "dataset source", "channel",
)  # fmt: skip
TOPIC = (
    "topic", "topics", "subject", "subjects", "category", "theme", "domain topic", "keywords", "tags", "tema",
    "assunto", "categoria", "topico", "sujet", "categorie", "thema", "kategorie", "argomento", "section",
)  # fmt: skip
GROUP = (
    "group", "event", "cluster", "cluster id", "pair", "pair id", "thread", "thread id", "group id", "event id",
    "conversation id", "claim num", "claim number", "story id", "grupo", "evento", "gruppe", "ereignis",
)  # fmt: skip
SPLIT = ("split", "set", "partition", "fold", "subset", "data split", "particao", "conjunto", "particion")

NAMES: dict[str, tuple[str, ...]] = {
    "text": TEXT, "label": LABEL, "id": ID, "tweet_id": TWEET_ID, "date": DATE, "language": LANGUAGE, "url": URL,
    "author": AUTHOR, "source": SOURCE, "topic": TOPIC, "group": GROUP, "split": SPLIT,
}  # fmt: skip
# Last words that say as much: q2_label, news_url, post_text.
TAILS: dict[str, tuple[str, ...]] = {
    "text": ("text", "claim", "statement", "tweet", "texto"), "label": ("label", "verdict", "rating", "veracity"),
    "url": ("url", "link"), "date": ("date", "datetime", "timestamp"),
}  # fmt: skip
SPLITS = {
    "train": "train", "training": "train", "treino": "train", "dev": "dev", "val": "dev", "valid": "dev",
    "validation": "dev", "validate": "dev", "development": "dev", "validacao": "dev", "test": "test", "testing": "test",
    "teste": "test",
}  # fmt: skip


def fold_name(name: str) -> str:
    """What two spellings of one column name have in common."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", name)
    plain = "".join(c for c in unicodedata.normalize("NFKD", spaced) if not unicodedata.combining(c))
    return " ".join(re.sub(r"[\W_]+", " ", plain.casefold()).split())


# The names in further languages, folded: they count for less, because some are ordinary words in other languages.
_WORLD: dict[str, list[str]] = packaged.toml("claimlab.exchange", "columns.toml")
WORLD = {role: frozenset(map(fold_name, names)) for role, names in _WORLD.items()}

# Lower-case spellings that tell a header from a first row: "claim text", "claim_text" and "claimtext".
HEADER_WORDS = frozenset(
    spelling
    for names in NAMES.values()
    for name in names
    for spelling in (name, name.replace(" ", "_"), name.replace(" ", ""), name.replace(" ", "-"))
    if name not in ("y", "fake", "nr")
) | {name.casefold() for names in _WORLD.values() for name in names}
