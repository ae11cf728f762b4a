"""One seat of many games for a learner, the other for an opponent inside the batch."""
