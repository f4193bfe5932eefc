package dev.waymark.worker.inbound;

/** The last bytes of a stream. */
public final class StreamTail {

    private final byte[] ring;
    private long length;

    public StreamTail(int capacity) {
        this.ring = new byte[capacity];
    }

    public void append(byte[] bytes, int offset, int count) {
        int skipped = Math.max(0, count - ring.length);
        length += skipped;
        for (int i = offset + skipped; i < offset + count; i++) {
            ring[(int) (length++ % ring.length)] = bytes[i];
        }
    }

    /** Whether earlier bytes were dropped. */
    public boolean isCut() {
        return length > ring.length;
    }

    public byte[] bytes() {
        int count = (int) Math.min(length, ring.length);
        byte[] bytes = new byte[count];
        for (int i = 0; i < count; i++) {
            bytes[i] = ring[(int) ((length - count + i) % ring.length)];
        }
        return bytes;
    }
}
