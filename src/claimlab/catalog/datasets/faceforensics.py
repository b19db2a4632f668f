"""FaceForensics++: manipulated faces in videos. A card without a loader."""

from __future__ import annotations

from claimlab.catalog.card import Card
from claimlab.catalog.entry import Entry

DATASET = Entry(
    card=Card(
        name="faceforensics",
        title="FaceForensics++",
        summary="A thousand videos of faces, manipulated with four methods at three levels of compression, for the "
        "detection of forged faces.",
        size=1_800_000,
        modality=("images", "videos"),
        topic="Deepfakes",
        labelling="By construction",
        licence="research only, on application",
        access="A download script, after the application form linked from the repository.",
        homepage="https://github.com/ondyari/FaceForensics",
        citation="Rössler, Cozzolino, Verdoliva, Riess, Thies and Nießner (2019), FaceForensics++: Learning to Detect "
        "Manipulated Facial Images, ICCV.",
        errata=("The guide files it under images: its 1.8 million items are the frames of videos.",),
        survey="cdl-listed",
    ),
    no_loader="Not a text dataset: videos of faces.",
)
