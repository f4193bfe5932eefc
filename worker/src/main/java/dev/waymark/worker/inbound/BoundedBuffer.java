package dev.waymark.worker.inbound;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** Collects bytes up to a limit, in memory taken from a {@link MemoryBudget.Share}. Not thread-safe. */
public final class BoundedBuffer {
    private static final int FIRST = 256;

    private final String what;
    private final int most;
    private final MemoryBudget.Share memory;
    private byte[] bytes = new byte[FIRST];
    private int size;

    /** @param what a description of the content, for {@link InputTooLargeException} */
    public BoundedBuffer(String what, int most, MemoryBudget.Share memory) {
        this.what = what;
        this.most = most;
        this.memory = memory;
    }

    /** Reads a stream to its end. Throws the same exceptions as {@link #add}. */
    public static byte[] readAll(InputStream in, String what, int most, MemoryBudget.Share memory) throws IOException {
        BoundedBuffer all = new BoundedBuffer(what, most, memory);
        byte[] chunk = new byte[8 * 1024];
        for (int count = in.read(chunk); count >= 0; count = in.read(chunk)) {
            for (int i = 0; i < count; i++) {
                all.add(chunk[i]);
            }
        }
        return all.bytes();
    }

    /**
     * Adds a byte.
     *
     * @throws InputTooLargeException if the limit is already reached
     * @throws MemoryShortException if the share gets no more memory
     */
    public void add(int b) throws IOException {
        if (size == bytes.length) {
            grow();
        }
        bytes[size++] = (byte) b;
    }

    private void grow() throws IOException {
        if (size >= most) {
            throw new InputTooLargeException(what + " of more than " + most + " bytes");
        }
        int larger = (int) Math.min(most, 2L * bytes.length);
        memory.take(larger - bytes.length);
        bytes = Arrays.copyOf(bytes, larger);
    }

    int size() {
        return size;
    }

    void truncate(int length) {
        size = length;
    }

    boolean startsWith(int from, byte[] prefix) {
        return Arrays.equals(bytes, from, Math.min(size, from + prefix.length), prefix, 0, prefix.length);
    }

    byte at(int index) {
        return bytes[index];
    }

    /** Removes bytes, and shifts the following ones to the left. */
    void remove(int from, int count) {
        System.arraycopy(bytes, from + count, bytes, from, size - from - count);
        size -= count;
    }

    public byte[] bytes() {
        return Arrays.copyOf(bytes, size);
    }

    String text() {
        return new String(bytes, 0, size, StandardCharsets.UTF_8);
    }
}
