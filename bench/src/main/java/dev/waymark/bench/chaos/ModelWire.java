package dev.waymark.bench.chaos;

/** The connection between a worker and its model. */
public enum ModelWire {
    /** The model is in the worker. */
    NONE,
    ANTHROPIC,
    OPENAI
}
