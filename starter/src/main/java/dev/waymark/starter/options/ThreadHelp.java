package dev.waymark.starter.options;

/** The help text of the argument that names a thread. Commands find it with {@code ThreadLists.find}. */
public final class ThreadHelp {
    public static final String ID = "The thread's id, or its beginning if that is unambiguous.";

    private ThreadHelp() {}
}
