package dev.waymark.starter;

import dev.waymark.starter.cli.Waymark;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.OutputStreamWriter;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;

/** The commands of {@code ./waymark} that start, answer and inspect runs. */
public final class Main {
    private Main() {}

    public static void main(String[] args) {
        System.exit(Waymark.execute(writer(FileDescriptor.out), writer(FileDescriptor.err), args));
    }

    /** What is said is UTF-8, whatever the locale. */
    private static PrintWriter writer(FileDescriptor to) {
        return new PrintWriter(new OutputStreamWriter(new FileOutputStream(to), StandardCharsets.UTF_8), true);
    }
}
