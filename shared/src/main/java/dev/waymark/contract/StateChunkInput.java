package dev.waymark.contract;

import java.util.Objects;
import java.util.Optional;

/**
 * The input of the activity that fetches a chunk of the previous run's last state.
 *
 * @param index from 0
 * @param whole the digest of the state's JSON, from the chunks fetched so far; empty for the first chunk
 */
public record StateChunkInput(CarriedReference state, int index, Optional<String> whole) {
    public StateChunkInput {
        Objects.requireNonNull(state, "state");
    }
}
