package dev.waymark.client;

import dev.waymark.saver.SaverException;

/** Told of what is saved and what came back, by the thread that does it: it waits for the listener. */
public interface SaveListener {
    /** Tells nobody. */
    SaveListener NONE = new SaveListener() {};

    /** The saver has this version. */
    default void saved(CheckpointSaved event) {}

    /** A thread that the server did not know goes on from what the saver had. */
    default void loaded(CheckpointLoaded event) {}

    /**
     * The saver does not do its part. It is tried again, and the thread goes on whatever comes of it. A problem of one
     * kind is told once, and again after it was gone for ten minutes.
     */
    default void failed(SaverException problem) {}

    /** Nobody tries any more to save the newest checkpoint of this thread. Why is what {@link #failed} was told. */
    default void notSaved(String thread) {}
}
