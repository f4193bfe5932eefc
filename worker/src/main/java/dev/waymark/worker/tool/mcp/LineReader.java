package dev.waymark.worker.tool.mcp;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/** Reads lines of any length. Only the beginning and the end of a line that is too long are kept. */
final class LineReader {
    private static final int END_BYTES = 64;

    private final BufferedInputStream in;
    private final int most;

    LineReader(InputStream in, int most) {
        this.in = new BufferedInputStream(in, 64 * 1024);
        this.most = most;
    }

    /** @param bytes the whole line, or the beginning of one that is too long */
    record Line(byte[] bytes, boolean isCut, String end) {}

    /** Empty at the end of the input. A last line without a line feed is ignored. */
    Optional<Line> next() throws IOException {
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        byte[] end = new byte[END_BYTES];
        long length = 0;
        for (int b = in.read(); b >= 0; b = in.read()) {
            if (b == '\n') {
                return Optional.of(new Line(line.toByteArray(), length > most, end(end, length)));
            }
            if (length < most) {
                line.write(b);
            }
            end[(int) (length % END_BYTES)] = (byte) b;
            length++;
        }
        return Optional.empty();
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
