package dev.waymark.e2e.examples;

import java.util.List;
import java.util.Optional;

/** The client of a key-value store, as its library has it. */
interface RedisClient {
    Optional<String> get(String key);

    void set(String key, String value);

    /** Sets the value only if the current one is as expected; empty if there must be none. In Redis, a Lua script. */
    boolean compareAndSet(String key, Optional<String> expected, String value);

    void del(String key);

    boolean exists(String key);

    List<String> keys(String prefix);
}
