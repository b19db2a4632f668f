"""The reader of BLUFF, a benchmark of false and synthetic content in many languages.

    layout       the seven kinds of files of its card, found by their place in the tree, read one
                 part at a time
    decode       techniques, degrees and resource classes, from the words that the card, the notes
                 and the scripts use
    authorship   who wrote a text (HWT, MGT, MTT, HAT), by a named rule
    tongues      the language of each text; languages declared in three places, compared with those
                 in the data
    splits       lists of uuids as splits
    texts        samples exploded into their texts
    joins        uuids against metadata and splits; reports orphans and duplicates
    reader       all of it together, as what a catalogue loader returns

Made from the data card and the public repository, which holds no data: the published files have not
been met. Where the published material contradicts itself the reader is driven by the data and
reports, and offers both readings by name.
"""
