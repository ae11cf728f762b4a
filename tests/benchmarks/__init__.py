"""Tests of the benchmark harness: what it writes, never how fast anything is."""
