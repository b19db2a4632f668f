"""DeepfakeTIMIT: swapped faces in videos. A card without a loader."""

from __future__ import annotations

from claimlab.catalog.card import Card
from claimlab.catalog.entry import Entry

DATASET = Entry(
    card=Card(
        name="deepfaketimit",
        title="DeepfakeTIMIT",
        summary="Videos of the VidTIMIT collection with faces swapped by a generative network, in a low and a high "
        "quality.",
        size=640,
        modality=("videos",),
        topic="Various",
        labelling="By construction",
        licence="not checked; see the homepage",
        access="Zenodo, through the Idiap Research Institute.",
        homepage="https://www.idiap.ch/en/dataset/deepfaketimit",
        citation="Korshunov and Marcel (2018), DeepFakes: a New Threat to Face Recognition? Assessment and Detection, "
        "arXiv:1812.08685.",
        errata=("Printed as 'DEEPPAKETIMIT' in the guide's table.",),
        survey="cdl-listed",
    ),
    no_loader="Not a text dataset: videos of faces.",
)
