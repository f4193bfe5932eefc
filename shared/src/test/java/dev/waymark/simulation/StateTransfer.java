package dev.waymark.simulation;

import dev.waymark.contract.CarriedReference;
import dev.waymark.contract.CarriedState;
import dev.waymark.contract.ChunkedState;
import dev.waymark.contract.StateAssembly;
import dev.waymark.contract.StateChunk;
import dev.waymark.contract.StateChunkInput;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.value.Sha256;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/**
 * A run that fetches the state of the previous run chunk by chunk, from workers of two builds that write the state
 * differently. Fetches are lost, or return a wrong or an invalid chunk; the run is replayed and reset.
 */
final class StateTransfer {
    private static final int MOST_CHUNKS = 7;
    private static final int MOST_FETCHES = 1_000;

    private final Random random;
    private final Coverage coverage;
    private final Simulation.Fault fault;
    private final CarriedReference reference;
    private final List<ChunkedState> builds;
    /** The state as each build wrote it, with one changed digit that the reference does not cover. */
    private final List<ChunkedState> changed;

    private final int[] counts;
    private final ChunkedState other;
    /** The results of the fetches in the run's history. */
    private final List<Optional<StateChunk>> results = new ArrayList<>();

    private final Map<Integer, StateChunk> held = new HashMap<>();
    private StateAssembly assembly;
    private Optional<Conversation> arrived = Optional.empty();

    /** @param other any state that this thread has had, whose chunks some fetches return by mistake */
    StateTransfer(
            Conversation sent,
            Conversation other,
            String runId,
            Random random,
            Coverage coverage,
            Simulation.Fault fault) {
        this.random = random;
        this.coverage = coverage;
        this.fault = fault;
        this.reference = CarriedReference.of(runId, sent);
        this.assembly = new StateAssembly(reference);
        ChunkedState one = ChunkedState.of(new CarriedState(sent, Optional.empty()));
        this.builds = List.of(one, edited(one, "\\{", "{ "));
        this.changed = builds.stream()
                .map(build -> edited(build, "(\"iterations\":)\\d", "$19"))
                .toList();
        this.counts = new int[] {1 + random.nextInt(MOST_CHUNKS), 1 + random.nextInt(MOST_CHUNKS)};
        this.other = ChunkedState.of(new CarriedState(other, Optional.empty()));
        coverage.count("carried over in chunks");
    }

    private static ChunkedState edited(ChunkedState one, String regex, String replacement) {
        byte[] json = new String(one.json(), StandardCharsets.UTF_8)
                .replaceFirst(regex, replacement)
                .getBytes(StandardCharsets.UTF_8);
        return new ChunkedState(json, Sha256.hex(json));
    }

    /** The state, once it has arrived. */
    Optional<Conversation> arrived() {
        return arrived;
    }

    /** Performs one fetch, or something that happens to the run between two fetches. */
    void goOn() {
        Violation.unless(results.size() < MOST_FETCHES, "the state never arrives");
        boolean disturbed = results.size() < 4 * MOST_CHUNKS && chance(3);
        switch (disturbed ? random.nextInt(8) : 8) {
            case 0 -> coverage.count("fetches lost");
            case 1 -> replay();
            case 2 -> reset();
            case 3 -> repeat();
            case 4 -> end("chunks out of order", chunk(random.nextInt(2), random.nextInt(MOST_CHUNKS)));
            case 5 -> end("results that are no chunk", noChunk());
            case 6 -> end("altered chunks", altered());
            case 7 -> end("chunks of another state", other.chunk(0));
            default -> fetch();
        }
    }

    private void fetch() {
        StateChunkInput next = assembly.next();
        Violation.unless(next.state().equals(reference), "another state is fetched");
        Violation.unless(!held.containsKey(next.index()), "a chunk is fetched that is there");
        int build = random.nextInt(2);
        boolean isOfSameWhole =
                next.whole().map(builds.get(build).whole()::equals).orElse(true);
        if (!isOfSameWhole && !chance(6)) {
            coverage.count("chunks left to another build");
            return;
        }
        end(isOfSameWhole ? "chunks" : "chunks of another build", chunk(build, next.index()));
    }

    /**
     * The chunk that a worker of this build returns. If this build has fewer chunks than the build that sent the first
     * one, the index may be too large, and the worker returns its first chunk.
     */
    private StateChunk chunk(int build, int index) {
        return builds.get(build).chunk(index < counts[build] ? index : 0, counts[build]);
    }

    /** Repeats the result of an earlier fetch. */
    private void repeat() {
        if (!results.isEmpty()) {
            end("chunks repeated", results.get(random.nextInt(results.size())).orElse(null));
        }
    }

    private @Nullable StateChunk noChunk() {
        StateChunk chunk = chunk(0, 0);
        return switch (random.nextInt(4)) {
            case 0 -> null;
            case 1 -> new StateChunk(-1, chunk.count(), chunk.whole(), chunk.bytes());
            case 2 -> new StateChunk(chunk.count(), chunk.count(), chunk.whole(), chunk.bytes());
            default -> new StateChunk(0, 0, chunk.whole(), chunk.bytes());
        };
    }

    /**
     * A chunk whose bytes are replaced: by those of the next chunk, by those of another state, by invalid ones, or by
     * those of the same state with one changed digit.
     */
    private StateChunk altered() {
        int build = random.nextInt(2);
        StateChunk chunk = chunk(build, random.nextInt(counts[build]));
        String bytes = switch (random.nextInt(6)) {
            case 0 -> chunk(build, chunk.index() + 1).bytes();
            case 1 -> "no base64";
            case 2 -> other.chunk(0).bytes();
            default -> changed.get(build).chunk(chunk.index(), chunk.count()).bytes();
        };
        return new StateChunk(chunk.index(), chunk.count(), chunk.whole(), bytes);
    }

    private void end(String what, @Nullable StateChunk result) {
        coverage.count(what);
        results.add(Optional.ofNullable(result));
        take(results.get(results.size() - 1));
    }

    private void take(Optional<StateChunk> result) {
        StateChunk taken = result.map(this::asTaken).orElse(null);
        boolean complete = result.isPresent() && completes(result.get());
        Optional<Conversation> state = assembly.take(taken).map(CarriedState::state);
        Violation.unless(state.isPresent() || !complete, "all chunks are there, and the state is not");
        Violation.unless(state.isEmpty() || complete, "the state is there without its chunks");
        arrived = state;
    }

    private StateChunk asTaken(StateChunk chunk) {
        return switch (fault) {
            case CHUNKS_JOINED_AS_THEY_COME -> new StateChunk(held.size(), chunk.count(), chunk.whole(), chunk.bytes());
            case CHUNKS_OF_TWO_BUILDS_JOINED ->
                new StateChunk(
                        chunk.index(), chunk.count(), assembly.next().whole().orElse(chunk.whole()), chunk.bytes());
            default -> chunk;
        };
    }

    /** Holds this chunk, and returns whether the chunks held are now all chunks of one build's state, unaltered. */
    private boolean completes(StateChunk chunk) {
        if (chunk.index() < 0 || chunk.index() >= chunk.count()) {
            return false;
        }
        held.values().removeIf(one -> !one.whole().equals(chunk.whole()) || one.count() != chunk.count());
        held.put(chunk.index(), chunk);
        if (held.size() < chunk.count()) {
            return false;
        }
        boolean complete = builds.stream()
                .anyMatch(build ->
                        held.values().stream().allMatch(one -> one.equals(build.chunk(one.index(), one.count()))));
        held.clear();
        coverage.count(complete ? "wholes" : "wholes with an altered chunk");
        return complete;
    }

    /** Replays the history, as another worker does when the first one is lost. */
    private void replay() {
        coverage.count(results.isEmpty() ? "crashes before chunks" : "crashes between chunks");
        StateChunkInput next = assembly.next();
        refold();
        Violation.unless(assembly.next().equals(next), "a replay fetches something else");
    }

    /** Resets the run, as an operator does, to a point at which the state had not arrived yet. */
    private void reset() {
        if (!results.isEmpty()) {
            coverage.count("resets between chunks");
            results.subList(random.nextInt(results.size()), results.size()).clear();
            refold();
        }
    }

    private void refold() {
        assembly = new StateAssembly(reference);
        held.clear();
        List.copyOf(results).forEach(this::take);
        Violation.unless(arrived.isEmpty(), "a state arrives earlier than before");
    }

    private boolean chance(int oneIn) {
        return random.nextInt(oneIn) == 0;
    }
}
