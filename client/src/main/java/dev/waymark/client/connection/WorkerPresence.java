package dev.waymark.client.connection;

/** The presence of workers for work that has been waiting for a while. */
enum WorkerPresence {
    /** Workers serve the queue: the work waits behind other work. */
    BUSY,
    /** Nothing waits in the queue. Workers are idle and the work is still on its way, or they have just gone. */
    IDLE,
    /** Work waits in the queue, and no worker takes any at the moment. They may have just gone, or be occupied. */
    SILENT,
    /** No worker has asked for work for over a minute. */
    ABSENT;

    /** Whether no worker takes work at the moment, according to the server. */
    boolean isQuiet() {
        return this == SILENT || this == ABSENT;
    }
}
