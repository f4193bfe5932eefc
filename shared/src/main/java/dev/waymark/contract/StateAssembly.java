package dev.waymark.contract;

import dev.waymark.conversation.state.UnknownRulesException;
import dev.waymark.conversation.value.Sha256;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.UncheckedIOException;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Assembles a state from its chunks. The workflow and the readers of its history do this in the same way.
 *
 * <p>Chunks from a build that writes the state differently have another digest, and replace the chunks received so far.
 * If a result is not a chunk, the same chunk is fetched again. If the chunks do not form the state, all of them are
 * fetched again.
 */
public final class StateAssembly {
    private static final int MOST_CHUNKS = 1_000;

    private final CarriedReference reference;
    private final SortedMap<Integer, StateChunk> chunks = new TreeMap<>();

    public StateAssembly(CarriedReference reference) {
        this.reference = reference;
    }

    public CarriedReference reference() {
        return reference;
    }

    public StateChunkInput next() {
        int missing = 0;
        while (chunks.containsKey(missing)) {
            missing++;
        }
        Optional<String> whole = chunks.values().stream().findFirst().map(StateChunk::whole);
        return new StateChunkInput(reference, missing, whole);
    }

    /**
     * Takes the result of a fetch, and returns the state once it is complete.
     *
     * @param chunk null if the result was unreadable
     * @throws UnknownRulesException if the state uses rules that only a newer worker knows
     */
    public Optional<CarriedState> take(@Nullable StateChunk chunk) {
        if (chunk == null
                || chunk.count() < 1
                || chunk.count() > MOST_CHUNKS
                || chunk.index() < 0
                || chunk.index() >= chunk.count()) {
            return Optional.empty();
        }
        boolean isOfSameWhole = chunks.values().stream()
                .allMatch(other -> other.whole().equals(chunk.whole()) && other.count() == chunk.count());
        if (!isOfSameWhole) {
            chunks.clear();
        }
        chunks.put(chunk.index(), chunk);
        if (chunks.size() < chunk.count()) {
            return Optional.empty();
        }
        Optional<CarriedState> state = whole(chunk.whole());
        chunks.clear();
        return state;
    }

    private Optional<CarriedState> whole(String digest) {
        ByteArrayOutputStream json = new ByteArrayOutputStream();
        try {
            chunks.values().forEach(chunk -> json.writeBytes(PackedBytes.unpack(chunk.bytes())));
            byte[] bytes = json.toByteArray();
            return Sha256.hex(bytes).equals(digest)
                    ? Optional.of(CarriedState.read(new ByteArrayInputStream(bytes)))
                            .filter(state -> reference.isOf(state.state()))
                    : Optional.empty();
        } catch (UnknownRulesException e) {
            throw e;
        } catch (UncheckedIOException | IllegalArgumentException e) {
            return Optional.empty();
        }
    }
}
