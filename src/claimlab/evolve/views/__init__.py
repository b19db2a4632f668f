"""How what was measured is shown: pictures.py draws, page.py words, viewer.py lets a reader follow single traces."""
