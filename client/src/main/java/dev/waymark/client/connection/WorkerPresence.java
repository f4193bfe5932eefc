package dev.waymark.client.connection;

/** Where the workers are that should take work that has been waiting for a while. */
enum WorkerPresence {
    /** Workers serve the queue: the work waits behind other work. */
    BUSY,
    /** Nothing waits in the queue. Workers stand ready for work that is on its way, or have just gone. */
    IDLE,
    /** Work waits in the queue, and no worker takes any at the moment. They may have just gone, or be occupied. */
    SILENT,
    /** No worker has asked for work for over a minute. */
    ABSENT;

    /** Whether nobody takes work at the moment, as far as the server can tell. */
    boolean isQuiet() {
        return this == SILENT || this == ABSENT;
    }
}
