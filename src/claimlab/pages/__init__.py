"""Reports: rooms say what one holds as blocks (`blocks`), and `html`, `markdown`, `latex` and
`terminal` write them.

A table is a list of columns and the rows that they show, once for all four:

    Table.of(
        [
            Column("Run", "name", short(60), link=lambda run: links.get(run.name)),
            Column("Macro-F1", "scores.macro_f1", percent),
            Column("95% interval", lambda run: run.intervals["macro_f1"], span),
            Column("Groups"),
            Column("Note", "why", missing="", optional=True),
        ],
        runs,
        "Values in %.",
    )

A row is any object: a dataclass, a dictionary (`frame.iter_rows(named=True)`) or a tuple
(`Column("Claims", 1)`). Numbers are aligned right and sort as numbers; a missing one is a dash.
`percent`, `span`, `points`, `points_span`, `decimal`, `probability` and `short` are formats; any
function from a value to text, a number or a `Cell` is one. Columns that depend on the data are
made in a loop. Rows that have nothing in common but their heads are given to `Table` itself.
"""
