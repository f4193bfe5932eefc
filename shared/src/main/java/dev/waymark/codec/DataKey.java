package dev.waymark.codec;

import javax.crypto.SecretKey;

/** A key with the id that payloads name. */
record DataKey(String id, SecretKey secret) {
    /** Only the id: a key must not be logged. */
    @Override
    public String toString() {
        return "DataKey[" + id + "]";
    }
}
