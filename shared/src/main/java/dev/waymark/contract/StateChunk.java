package dev.waymark.contract;

/**
 * A part of a state's JSON.
 *
 * @param index from 0
 * @param count the number of chunks of the state
 * @param whole the digest of the state's JSON
 * @param bytes the part, packed
 */
public record StateChunk(int index, int count, String whole, String bytes) {
    public StateChunk {
        whole = whole == null ? "" : whole;
        bytes = bytes == null ? "" : bytes;
    }
}
