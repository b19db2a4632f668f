"""The views of an evaluation: tables, charts and pages."""
