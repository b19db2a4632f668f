"""Train, dev and test: one file per way of splitting in `ways/`, and every split audited as it is made."""
