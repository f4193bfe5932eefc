package dev.waymark.worker.tool.mcp;

import dev.waymark.worker.inbound.BoundedBuffer;
import dev.waymark.worker.inbound.InputTooLargeException;
import dev.waymark.worker.inbound.MemoryBudget;
import dev.waymark.worker.inbound.MemoryShortException;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/**
 * Reads lines of any length. If a line is too long, or there is no memory for it, only its beginning and its end are
 * kept. A line holds its share of memory until the next line is read.
 */
final class LineReader {
    private static final int END_BYTES = 64;

    private final BufferedInputStream in;
    private final int most;
    private final MemoryBudget budget;
    private MemoryBudget.Share memory;

    LineReader(InputStream in, int most, MemoryBudget budget) {
        this.in = new BufferedInputStream(in, 64 * 1024);
        this.most = most;
        this.budget = budget;
        this.memory = budget.open();
    }

    /**
     * @param bytes the whole line, or the beginning of one that was cut
     * @param cut why the line was cut; empty for a whole line
     * @param end the last 64 bytes of the line, even if it was cut
     */
    record Line(byte[] bytes, Optional<String> cut, String end) {}

    /** Empty at the end of the input. A last line without a line feed is ignored. */
    Optional<Line> next() throws IOException {
        memory.close();
        memory = budget.open();
        BoundedBuffer line = new BoundedBuffer("a line", most, memory);
        Optional<String> cut = Optional.empty();
        byte[] end = new byte[END_BYTES];
        long length = 0;
        for (int b = in.read(); b >= 0; b = in.read()) {
            if (b == '\n') {
                return Optional.of(new Line(line.bytes(), cut, end(end, length)));
            }
            if (cut.isEmpty()) {
                cut = add(b, line);
            }
            end[(int) (length % END_BYTES)] = (byte) b;
            length++;
        }
        memory.close();
        return Optional.empty();
    }

    /** Adds a byte; returns why the line is cut, if it is. */
    private static Optional<String> add(int b, BoundedBuffer line) throws IOException {
        try {
            line.add(b);
            return Optional.empty();
        } catch (InputTooLargeException e) {
            return Optional.of(McpChannel.TOO_LONG);
        } catch (MemoryShortException e) {
            return Optional.of(String.valueOf(e.getMessage()));
        }
    }

    private static String end(byte[] ring, long length) {
        int kept = (int) Math.min(ring.length, length);
        byte[] end = new byte[kept];
        for (int i = 0; i < kept; i++) {
            end[i] = ring[(int) ((length - kept + i) % ring.length)];
        }
        return new String(end, StandardCharsets.ISO_8859_1);
    }
}
