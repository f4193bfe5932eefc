"""Runs one agent in several frameworks, and measures its time, its stored bytes and the effect of kill -9."""
