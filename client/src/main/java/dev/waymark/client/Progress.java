package dev.waymark.client;

/** Told how far a reading of many threads has come. */
@FunctionalInterface
public interface Progress {
    void read(int done, int of);
}
