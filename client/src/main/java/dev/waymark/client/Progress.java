package dev.waymark.client;

/** Receives the progress of reading many threads. */
@FunctionalInterface
public interface Progress {
    void read(int done, int of);
}
