"""Celeb-DF: deepfakes of celebrities. A card without a loader."""

from __future__ import annotations

from claimlab.catalog.card import Card
from claimlab.catalog.entry import Entry

DATASET = Entry(
    card=Card(
        name="celeb-df",
        title="Celeb-DF",
        summary="Deepfake videos of celebrities of a better visual quality than earlier sets, with the real videos "
        "they were made from.",
        size=5_639,
        modality=("videos",),
        topic="Celebrities",
        labelling="By construction",
        licence="research only, on application",
        access="After the application form linked from the repository.",
        homepage="https://github.com/yuezunli/celeb-deepfakeforensics",
        citation="Li, Yang, Sun, Qi and Lyu (2020), Celeb-DF: A Large-scale Challenging Dataset for DeepFake Forensics, "
        "CVPR.",
        errata=("The size counts the fake videos alone; 590 real ones come with them.",),
        survey="cdl-listed",
    ),
    no_loader="Not a text dataset: videos of faces.",
)
