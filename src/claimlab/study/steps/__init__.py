"""Steps of a study; an installed package adds its own in the group `claimlab.study_steps`."""
