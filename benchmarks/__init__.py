"""Benchmarks: `azumaya bench` and `azumaya bench peers`; see `docs/results/benchmarks.md`."""

from azumaya.baselines.system.imports import find_earlier_names

find_earlier_names()
