package dev.waymark.connect;

/** Whether a Temporal server can serve requests. */
public enum ServerState {
    WORKING,
    /** The server answers, but not requests that need its database. */
    WITHOUT_DATABASE,
    UNREACHABLE
}
