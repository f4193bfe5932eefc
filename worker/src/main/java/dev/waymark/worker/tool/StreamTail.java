package dev.waymark.worker.tool;

/** The last bytes of a stream. */
final class StreamTail {

    private final byte[] ring;
    private long length;

    StreamTail(int capacity) {
        this.ring = new byte[capacity];
    }

    void append(byte[] bytes, int offset, int count) {
        int skipped = Math.max(0, count - ring.length);
        length += skipped;
        for (int i = offset + skipped; i < offset + count; i++) {
            ring[(int) (length++ % ring.length)] = bytes[i];
        }
    }

    /** Whether bytes have been left out. */
    boolean isCut() {
        return length > ring.length;
    }

    byte[] bytes() {
        int count = (int) Math.min(length, ring.length);
        byte[] bytes = new byte[count];
        for (int i = 0; i < count; i++) {
            bytes[i] = ring[(int) ((length - count + i) % ring.length)];
        }
        return bytes;
    }
}
