package dev.waymark.starter;

import dev.waymark.starter.connection.CommandEventLoop;
import dev.waymark.starter.render.ResultStream;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.OutputStream;
import java.io.OutputStreamWriter;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;

/** The entry point of {@code waymark}. */
public final class Main {
    private Main() {}

    public static void main(String[] args) {
        ResultStream results = new ResultStream(new FileOutputStream(FileDescriptor.out));
        PrintWriter err = writer(new FileOutputStream(FileDescriptor.err));
        int exitCode = WaymarkCommand.execute(writer(results), err, args);
        int reported = results.exitCode(exitCode, err);
        CommandEventLoop.stop();
        System.exit(reported);
    }

    /** Writes UTF-8 in every locale. */
    private static PrintWriter writer(OutputStream to) {
        return new PrintWriter(new OutputStreamWriter(to, StandardCharsets.UTF_8), true);
    }
}
