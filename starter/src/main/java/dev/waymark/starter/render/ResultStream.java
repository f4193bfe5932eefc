package dev.waymark.starter.render;

import dev.waymark.cli.ExitCode;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.util.Optional;

/**
 * Where results are written to, which remembers whether all of them got there: a checkpoint that was cut off by a full
 * disk must not look like one that was saved.
 */
public final class ResultStream extends FilterOutputStream {
    private static final String NOBODY_READS = "Broken pipe";

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

    /** A command's own exit code, or another one when what it printed is lost. Nobody is told who stopped reading. */
    public int exitCode(int own, PrintWriter err) {
        Optional<String> lost = failure.filter(why -> !why.contains(NOBODY_READS));
        lost.ifPresent(why -> err.println(OneLine.error(
                "the result can't be written: stdout (" + why + ")", "What is there of it is not whole")));
        return lost.isPresent() && own == ExitCode.DONE ? ExitCode.BAD_INPUT : own;
    }
}
