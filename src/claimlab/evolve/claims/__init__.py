"""What a claim is made of, and where the first claims come from.

claim = Claim("The bridge opened in 1931.", style="rational-official", stance="neutral")
seeded = seed_claims(read_contexts("abstracts.json"), provider, seed=1)       # by a model
claims, skipped = from_dataset(dataset)                                       # or from any dataset
"""
