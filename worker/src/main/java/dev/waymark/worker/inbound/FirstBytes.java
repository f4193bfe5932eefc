package dev.waymark.worker.inbound;

import java.io.IOException;
import java.io.InputStream;

/** Reads a stream up to a number of bytes, and drops the rest. */
public final class FirstBytes extends InputStream {
    private final InputStream in;
    private int left;
    private boolean cut;

    public FirstBytes(InputStream in, int most) {
        this.in = in;
        this.left = most;
    }

    /** Whether the stream had more bytes. Known once the reader has reached the end. */
    public boolean isCut() {
        return cut;
    }

    @Override
    public int read() throws IOException {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] buffer, int offset, int length) throws IOException {
        if (length == 0) {
            return 0;
        }
        if (left == 0) {
            cut |= in.read() >= 0;
            return -1;
        }
        int count = in.read(buffer, offset, Math.min(left, length));
        left -= Math.max(0, count);
        return count;
    }
}
