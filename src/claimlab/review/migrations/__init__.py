"""The steps that bring a store to the tables of this version, oldest first (Alembic revisions)."""
