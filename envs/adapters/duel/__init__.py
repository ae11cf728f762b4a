"""Many games in which a learner has one seat and opponents inside the batch have the other."""
