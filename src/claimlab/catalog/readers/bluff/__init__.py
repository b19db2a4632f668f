"""The reader of BLUFF, a benchmark of false and synthetic content in many languages.

    layout   the seven kinds of files of its card, found by their place in the tree, read one part
             at a time; lists of uuids as splits
    texts    samples exploded into their texts: techniques and degrees from the words that the card,
             the notes and the scripts use, authorship by a named rule, and languages, declared in
             three places, compared with those in the data
    reader   all of it together, as what a catalogue loader returns; uuids joined to metadata and
             splits, with a report of orphans and duplicates

Made from the data card and the public repository, which holds no data: the published files have not
been met. Where the published material contradicts itself the reader is driven by the data and
reports, and offers both readings by name.
"""
