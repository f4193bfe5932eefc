package dev.waymark.contract;

import dev.waymark.conversation.value.Sha256;

/**
 * A state in chunks. The JSON of the state is cut, and each chunk is compressed separately, so that the cuts do not
 * depend on a machine's zip library.
 *
 * @param json the JSON of a {@link CarriedState}
 * @param whole the digest of the JSON
 */
public record ChunkedState(byte[] json, String whole) {
    /** A chunk of this size that cannot be compressed has less than 1.5 MiB in base64. A payload may have 2 MiB. */
    private static final int CHUNK_BYTES = 1024 * 1024;

    public static ChunkedState of(CarriedState state) {
        byte[] json = state.bytes();
        return new ChunkedState(json, Sha256.hex(json));
    }

    public int count() {
        return (json.length + CHUNK_BYTES - 1) / CHUNK_BYTES;
    }

    public StateChunk chunk(int index) {
        return chunk(index, count());
    }

    /** The chunk with this index, if the state is cut into this many chunks. */
    public StateChunk chunk(int index, int count) {
        int size = Math.max(1, (json.length + count - 1) / count);
        int from = Math.min(json.length, index * size);
        int length = Math.min(json.length - from, size);
        return new StateChunk(index, count, whole, PackedBytes.pack(out -> out.write(json, from, length)));
    }
}
