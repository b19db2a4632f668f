"""Train, dev and test: the strategies are in `strategies/`, and every split audited as it is
made.
"""
