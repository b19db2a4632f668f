"""Small odd files, made here, each with the one right outcome: its records and labels, or words of
the question asked.
"""

from __future__ import annotations

import bz2
import gzip
import io
import json
import zipfile
from pathlib import Path

import openpyxl
import polars as pl
import pytest

from claimlab.core.errors import ClaimlabError
from claimlab.exchange.importer import import_files

N = 24
Rows = list[tuple[str, str]]
Outcome = dict[str, int] | str  # labels with their counts, or words of the refusal
HALVES = {"false": 12, "true": 12}

TEXTS = {
    "en": "The council said in {} that the old bridge is safe",
    "bn": "পরিষদ {} সালে বলেছে যে পুরানো সেতুটি নিরাপদ আছে",
    "zh": "市议会在{}年表示旧桥是安全的并将继续开放使用",
    "ar": "قال المجلس في عام {} إن الجسر القديم آمن تماما",
    "de": "Der Rat sagte {}, dass die alte Brücke für Fußgänger gesperrt wäre",
    "pt": "A câmara disse em {} que a ponte antiga não está aberta à população",
    "ru": "Совет заявил в {} году, что старый мост безопасен для людей",
    "hi": "परिषद ने {} में कहा कि पुराना पुल सुरक्षित है",
    "cs": "Rada v roce {} uvedla, že starý most je pro chodce bezpečný",
    "ja": "市議会は{}年に古い橋は安全であると発表しました",
    "th": "สภากล่าวในปี {} ว่าสะพานเก่าปลอดภัยสำหรับประชาชน",
}
WORDS = {
    "en": ("true", "false"), "bn": ("সত্য", "মিথ্যা"), "zh": ("真实", "谣言"), "ar": ("صحيح", "زائف"), "de": ("wahr", "falsch"),
    "pt": ("verdadeiro", "falso"), "ru": ("правда", "ложь"), "hi": ("सच", "झूठ"), "ja": ("真実", "虚偽"),
    "cs": ("pravda", "nepravda"), "th": ("จริง", "เท็จ"),
}  # fmt: skip
NAMES = {"de": ("Aussage", "Bewertung"), "pt": ("afirmação", "veredito")}


def claims(language: str = "en", values: tuple[str, ...] | None = None) -> Rows:
    values = values or WORDS[language]
    return [(TEXTS[language].format(1990 + i), values[i % len(values)]) for i in range(N)]


def delimited(
    rows: Rows,
    delimiter: str = ",",
    header: tuple[str, str] | None = ("text", "verdict"),
    end: str = "\n",
) -> str:
    cells = [
        [str(i), f'"{text}"' if delimiter in text else text, label]
        for i, (text, label) in enumerate(rows)
    ]
    return (
        end.join(delimiter.join(row) for row in ([["id", *header]] if header else []) + cells) + end
    )


def objects(rows: Rows) -> list[dict[str, str]]:
    return [{"text": text, "verdict": label} for text, label in rows]


def workbook(*sheets: list[list[object]], titles: tuple[str, ...] = ("Sheet",)) -> bytes:
    book = openpyxl.Workbook()
    assert book.active is not None
    book.remove(book.active)
    for title, rows in zip(titles, sheets, strict=True):
        page = book.create_sheet(title)
        for row in rows:
            page.append(row)
    buffer = io.BytesIO()
    book.save(buffer)
    return buffer.getvalue()


def parquet(rows: Rows) -> bytes:
    buffer = io.BytesIO()
    pl.DataFrame(objects(rows)).write_parquet(buffer)
    return buffer.getvalue()


def review(text: str, rating: str) -> dict[str, object]:
    return {
        "@type": "ClaimReview",
        "claimReviewed": text,
        "reviewRating": {"ratingValue": 1, "alternateName": rating},
    }


def zipped(members: dict[str, str | bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def per_language() -> dict[str, tuple[str | bytes, Outcome]]:
    """Every language as CSV, headerless TSV and JSON lines; and in an encoding of its own where it
    has one.
    """
    out: dict[str, tuple[str | bytes, Outcome]] = {}
    for language in TEXTS:
        rows = claims(language)
        out[f"{language}.csv"] = (
            delimited(rows, ";", NAMES.get(language, ("claim", "verdict"))),
            HALVES,
        )
        bare = (
            "`map='false=false,true=true'`" if language == "en" else HALVES
        )  # true and false alone may answer any question
        out[f"{language}-bare.tsv"] = (delimited(rows, "\t", None), bare)
        out[f"{language}.jsonl"] = (
            "\n".join(json.dumps(o, ensure_ascii=False) for o in objects(rows)),
            HALVES,
        )
    for language, encoding in {
        "de": "cp1252",
        "pt": "cp1252",
        "ru": "cp1251",
        "zh": "gb18030",
        "ja": "shift_jis",
        "bn": "utf-16",
        "ar": "utf-16-le",
        "cs": "iso8859-2",
        "th": "cp874",
    }.items():
        out[f"{language}-{encoding}.csv"] = (
            delimited(claims(language), ";").encode(encoding),
            HALVES,
        )
    return out


def layouts() -> dict[str, tuple[str | bytes, Outcome]]:
    rows = claims()
    cells: list[list[object]] = [list(row) for row in rows]
    nested = [
        {**o, "comments": [{"text": f"Comment {i} on it", "label": "true"} for i in range(9)]}
        for o in objects(rows)
    ]
    return {
        "fasttext.txt": ("\n".join(f"__label__{v} {t}" for t, v in claims(values=("real", "fake"))), HALVES),
        "crlf.csv": (delimited(rows, end="\r\n"), HALVES),
        "mac.csv": (delimited(rows, end="\r"), HALVES),
        "pipes.txt": (delimited(rows, "|"), HALVES),
        "semicolons.csv": (delimited(rows, ";"), HALVES),
        "tabs.txt": (delimited(rows, "\t"), HALVES),
        "tabs-in.csv": (delimited(rows, "\t"), HALVES),
        "shouting.csv": (delimited(rows, header=("TEXT", "VERDICT")), HALVES),
        "list.json": (json.dumps(objects(rows)), HALVES),
        "wrapped.json": (json.dumps({"version": 1, "data": objects(rows)}), HALVES),
        "by-column.json": (json.dumps({"text": [t for t, _ in rows], "verdict": [v for _, v in rows]}), HALVES),
        "by-id.json": (json.dumps({f"id{i}": o for i, o in enumerate(objects(rows))}), HALVES),
        "by-split.json": (json.dumps({"train": objects(rows)[:16], "test": objects(rows)[16:]}), HALVES),
        "nested.jsonl": ("\n".join(map(json.dumps, nested)), HALVES),
        "nested.json": (json.dumps(nested), HALVES),
        "a.parquet": (parquet(rows), HALVES),
        "a.xlsx": (workbook([["text", "verdict"], *map(list, rows)]), HALVES),
        "splits.xlsx": (workbook([["text", "verdict"], *cells[:16]], [["text", "verdict"], *cells[16:]], titles=("train", "test")), HALVES),
        "classes.xlsx": (
            workbook(*([["text"], *([t] for t, w in rows if w == v)] for v in ("true", "false")), titles=("True", "Fake")),
            HALVES,
        ),
        "readme-first.xlsx": (workbook([["About"], ["Made in 2020"]], [["text", "verdict"], *cells], titles=("README", "Data")), HALVES),
        "title-row.xlsx": (workbook([["Claims, version 2"], ["text", "verdict"], *cells]), HALVES),
        "title-row.csv": ("Claims of version 2\n\n" + delimited(rows), HALVES),
        "remarks.csv": ("# made in 2020\n# by us\n" + delimited(rows), HALVES),
        "category.csv": (delimited(claims(values=("True", "Fake")), header=("text", "Category")), HALVES),
        "is-fake.csv": (delimited(claims(values=("1", "0")), header=("text", "is_fake")), "`map='0=true,1=false'`"),
        "code-and-name.csv": (
            "text,label,verdict_name\n" + "\n".join(f"{t},{i % 2},{v}" for i, (t, v) in enumerate(rows)), HALVES,
        ),
        "nested-label.jsonl": ("\n".join(json.dumps({"text": t, "label": {"verdict": v}}) for t, v in rows), HALVES),
        "list-label.jsonl": ("\n".join(json.dumps({"text": t, "label": [v]}) for t, v in rows), HALVES),
        "claimreview.json": (json.dumps([review(t, v) for t, v in rows]), HALVES),
        "feed.json": (
            json.dumps({"@type": "DataFeed", "dataFeedElement": [{"item": [review(t, v)]} for t, v in rows]}), HALVES,
        ),
        "test-before-labels.zip": (
            zipped({
                "train.csv": delimited(rows[:12]), "test_with_labels.csv": delimited(rows[12:]),
                "test.csv": "text\n" + "\n".join(t for t, _ in rows[12:]),
            }), HALVES,
        ),
        "with-users.zip": (zipped({"claims.csv": delimited(rows), "users.csv": "user,name\n1,a\n2,b\n"}), HALVES),
        "blank-rows.xlsx": (workbook([["text", "verdict"], [], *map(list, rows), [], []]), HALVES),
        "parquet.csv": (parquet(rows), HALVES),
        "mislabelled.xlsx": (delimited(rows), "not an Excel workbook"),
        "in.zip": (zipped({"a/claims.csv": delimited(rows), "README.md": "About."}), HALVES),
        "in-in.zip": (zipped({"b.zip": zipped({"claims.csv": delimited(rows)})}), HALVES),
        "labels-by-file.zip": (zipped({f"{v}.csv": "text\n" + "\n".join(t for t, w in rows if w == v) for v in ("true", "false")}), HALVES),
        "labels-by-folder.zip": (zipped({f"{v}/{i}.txt": t for i, (t, v) in enumerate(rows)}), HALVES),
        "one-record-each.zip": (zipped({f"{i}.json": json.dumps(o) for i, o in enumerate(objects(rows))}), HALVES),
        "splits.zip": (zipped({"train.csv": delimited(rows[:16]), "test.csv": delimited(rows[16:])}), HALVES),
        "a.csv.gz": (gzip.compress(delimited(rows).encode()), HALVES),
        "a.jsonl.gz": (gzip.compress("\n".join(map(json.dumps, objects(rows))).encode()), HALVES),
        "a.json.bz2": (bz2.compress(json.dumps(objects(rows)).encode()), HALVES),
        "secretly-packed.csv": (gzip.compress(delimited(rows).encode()), HALVES),
        "packed-splits.zip": (
            zipped({f"{p}.csv.gz": gzip.compress(delimited(part).encode()) for p, part in (("train", rows[:16]), ("test", rows[16:]))}),
            HALVES,
        ),
        "pandas-split.json": (json.dumps({"columns": ["text", "verdict"], "index": list(range(N)), "data": rows}), HALVES),
        "near-alike.zip": (
            zipped({
                "NewsFake.csv": "id,title,text,url,archive\n" + "\n".join(f"{i},A,{t},,x" for i, (t, v) in enumerate(rows) if v == "false"),
                "NewsReal.csv": "id,title,text,url\n" + "\n".join(f"{i},A,{t}," for i, (t, v) in enumerate(rows) if v == "true"),
            }), HALVES,
        ),
        "labels-apart.zip": (
            zipped({
                "texts.csv": "id,text\n" + "\n".join(f"{i},{t}" for i, (t, _) in enumerate(rows)),
                "labels.csv": "id,verdict\n" + "\n".join(f"{i},{v}" for i, (_, v) in enumerate(rows)),
            }),
            HALVES,
        ),
        "posts-about-claims.csv": (
            "statement,tweet,verdict\n" + "\n".join(f"The old bridge number {i // 6} is safe for all,{t},{v}" for i, (t, v) in enumerate(rows)),
            HALVES,
        ),
        "no-labels.csv": ("text\n" + "\n".join(t for t, _ in rows), {}),
    }  # fmt: skip


def questions() -> dict[str, tuple[str | bytes, Outcome]]:
    rows = claims()
    coded = claims(values=("0", "1"))
    merged = "text,verdict_x,verdict_y\n" + "\n".join(f"{t},{v},{v}" for t, v in rows)
    apart = "text,label_x,label_y\n" + "\n".join(
        f"{t},{v},{rows[i // 2][1]}" for i, (t, v) in enumerate(rows)
    )
    return {
        "codes.csv": (delimited(coded), "'0' (12), '1' (12)"),
        "codes.jsonl": ("\n".join(json.dumps({"text": t, "label": int(v)}) for t, v in coded), "'0' (12), '1' (12)"),
        "yes-no.csv": (delimited(claims(values=("yes", "no"))), "'no' (12), 'yes' (12)"),
        "target.csv": (delimited(claims(values=("TRUE", "FALSE")), header=("text", "target")), "`map='FALSE=false,TRUE=true'`"),
        "merged.csv": (merged, HALVES),  # two copies of one column
        "merged-apart.csv": (apart, "'label_x', 'label_y'"),
        "topics.csv": (delimited(claims(values=("sports", "politics", "health"))), "'health' (8)"),
        "numbers.csv": ("a,b\n" + "1,2\n" * N, "No column looks like the text"),
        "editions.zip": (zipped({"raw.csv": delimited(rows), "clean.csv": delimited(rows)}), "editions of the same data"),
        "two-tables.zip": (
            zipped({"a.csv": delimited(rows), "b.csv": "no,post,verdict\n" + "\n".join(f"{i},{t}!,{v}" for i, (t, v) in enumerate(rows))}),
            "`only='b.csv'`",
        ),
        "titles.zip": (
            zipped({f"{v}{more}/{i}.txt": t + more for i, (t, v) in enumerate(rows) for more in ("", "_titles")}),
            "stand for one label",
        ),
        "links.csv": ("tweet_id,reply_id\n" + "\n".join(f"{1344795424855642112 + i // 6},{i}" for i in range(N)), "occurs 6.0 times"),
        "twice.json": ('[{"text": "a", "text": "b", "label": "true"}]', "1 of 1 row of"),
        "fasttext-half.txt": ("\n".join(f"{t} __label__{v}" for t, v in rows), "'__label__'"),
        "colons.txt": ("\n".join(f"{v}::{t}" for t, v in rows), "'::'"),
        "rows.xml": (
            "<rows>" + "".join(f"<row verdict='{v}'><p>{t}</p></row>" for t, v in rows) + "</rows>", HALVES,
        ),
        "wrapped.xml": (
            "<a><about>x</about><rows>" + "".join(f"<r><text>{t}</text><verdict>{v}</verdict></r>" for t, v in rows) + "</rows></a>",
            HALVES,
        ),
        "articles.zip": (
            zipped({f"{i}.xml": f"<a><text>{t}</text><link>x</link><link>y</link><verdict>{v}</verdict></a>" for i, (t, v) in enumerate(rows)}),
            HALVES,
        ),
        "entities.xml": ('<!DOCTYPE a [<!ENTITY b "c">]><a><b>&b;</b></a>', "declares entities"),
        "hollow.xml": ("<rows></rows>", "holds no records"),
        "deep.xml": ("<a>" * 200 + "</a>" * 200, "nested too deeply"),
        "cut.xml": ("<rows><row><text>A claim</text>", "is not XML"),
        "two-codes.csv": (delimited(coded), "`map='0=false,1=true'`"),
        "broken-one.zip": (
            zipped({"a.csv": delimited(rows), "b.csv": delimited(rows), "c.xlsx": b"\xd0\xcf\x11\xe0"}), "`only='a.csv'`",
        ),
        "empty.csv": ("", "is empty"),
        "half-a-mark.csv": (b"\r\xef", "No column looks like the text"),
        "mark.txt": (b"\xff\xfe", "is empty"),
        "page.csv": ("<!DOCTYPE html><html></html>", "web page"),
        "old.xls": (b"\xd0\xcf\x11\xe0" + bytes(60), "old Office"),
        "damaged.csv.gz": (b"\x1f\x8b" + bytes(60), "cannot be unpacked"),
        "bomb.csv.gz": (gzip.compress(b"text,label\n" + b"x" * (20 << 20)), "looks like a zip bomb"),
        "a.tar.gz": (gzip.compress(delimited(rows).encode()), "not a whole tar archive"),
        "pickles.zip": (zipped({"train.pkl": b"\x80\x04.", "README.md": "About."}), "never opens one"),
        "labels-of-some.zip": (
            zipped({
                "ids.csv": "tweet_id\n" + "\n".join(str(1344795424855642112 + i) for i in range(5 * N)),
                "labelled.csv": "tweet_id,label\n" + "\n".join(f"{1344795424855642112 + i},{v}" for i, (_, v) in enumerate(rows)),
            }),
            "Choose: `only='labelled.csv'`",
        ),
        "two-schemes.zip": (
            zipped({
                f"{place}_{scheme}_{part}.csv": delimited([(t.replace("council", place), v) for t, v in rows[start::2]])
                for place in ("arabic", "dutch") for scheme in ("binary", "multi") for start, part in enumerate(("dev", "train"))
            }),
            "Choose: `only='*binary*.csv'`",
        ),
    }  # fmt: skip


CASES = {**per_language(), **layouts(), **questions()}


def test_there_are_enough_of_them() -> None:
    assert len(CASES) >= 60


@pytest.mark.parametrize("name", CASES)
def test_odd_file(name: str, tmp_path: Path) -> None:
    data, outcome = CASES[name]
    path = tmp_path / name
    path.write_bytes(data.encode("utf-8") if isinstance(data, str) else data)
    if isinstance(outcome, str):
        with pytest.raises(ClaimlabError) as caught:
            import_files(path)
        assert outcome in str(caught.value)
        return
    dataset, report = import_files(path)
    assert (dataset.records.height, report.labels) == (N, outcome)
    language = name[:2] if name[:2] in TEXTS and name[2] in ".-" else "en"
    assert sorted(dataset.records["text"]) == sorted(text for text, _ in claims(language))
