"""The society that claims live in: who the agents are, and who talks to whom.

    people = Population.read("agents.json")               # or Population.draw(1_000_000, seed=1)
    net = build("scale-free", people, seed=1)             # networks/: random, clustered, ...
    model = Model(starts, seeds, agents=net.size)         # engine.py: how all claims move
    travel(model, neighbour(net), depth=30)               # telling.py: whom an agent tells

Everything is an array: an agent is a row number, never an object, so that a million of them fit a
laptop.
"""
