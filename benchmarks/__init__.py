"""Benchmarks: `azumaya bench` and `azumaya bench peers`; see `docs/results/benchmarks.md`."""
