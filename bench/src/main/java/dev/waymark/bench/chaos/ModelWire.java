package dev.waymark.bench.chaos;

/** The API through which a worker calls its model. */
public enum ModelWire {
    /** The model runs in the worker's process. */
    NONE,
    ANTHROPIC,
    OPENAI
}
