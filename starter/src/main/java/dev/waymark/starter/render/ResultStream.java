package dev.waymark.starter.render;

import dev.waymark.cli.ExitCode;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.util.Optional;

/**
 * The stream for results. It remembers failed writes, so that a checkpoint that a full disk cut off does not look
 * complete.
 */
public final class ResultStream extends FilterOutputStream {
    private static final String BROKEN_PIPE = "Broken pipe";

    private Optional<String> failure = Optional.empty();

    public ResultStream(OutputStream to) {
        super(to);
    }

    @Override
    public void write(int one) throws IOException {
        write(new byte[] {(byte) one}, 0, 1);
    }

    @Override
    public void write(byte[] bytes, int from, int count) throws IOException {
        try {
            out.write(bytes, from, count);
        } catch (IOException e) {
            failure = failure.or(() -> Optional.of(String.valueOf(e.getMessage())));
            throw e;
        }
    }

    /**
     * Returns the command's exit code. If output was lost, prints an error, and returns another code than 0. A reader
     * that closed the pipe is not an error.
     */
    public int exitCode(int own, PrintWriter err) {
        Optional<String> lost = failure.filter(why -> !why.contains(BROKEN_PIPE));
        lost.ifPresent(why -> err.println(
                OneLine.error("the result can't be written: stdout (" + why + ")", "The output is incomplete")));
        return lost.isPresent() && own == ExitCode.DONE ? ExitCode.BAD_INPUT : own;
    }
}
