"""What a claim is made of, and where the first claims come from.

claim = Claim("The bridge opened in 1931.", style="rational-official", stance="neutral")
seeded = seed_claims("abstracts.json", profile="openai", output="seeds")       # by a model
"""
