"""The same agent's work in several frameworks: how long, how many bytes, and what a kill -9 does."""
