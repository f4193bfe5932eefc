package dev.waymark.bench.chaos;

/** What there is between a worker and its model. */
public enum ModelWire {
    /** Nothing: the model is in the worker. */
    NONE,
    ANTHROPIC,
    OPENAI
}
