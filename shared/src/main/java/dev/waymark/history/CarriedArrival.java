package dev.waymark.history;

import dev.waymark.contract.CarriedReference;
import dev.waymark.contract.CarriedState;
import dev.waymark.contract.PayloadJson;
import dev.waymark.contract.StateAssembly;
import dev.waymark.contract.StateChunk;
import dev.waymark.contract.WireNames;
import dev.waymark.conversation.Conversation;
import io.temporal.api.common.v1.ActivityType;
import io.temporal.api.history.v1.HistoryEvent;
import io.temporal.common.WorkflowExecutionHistory;
import io.temporal.common.converter.DataConverter;
import io.temporal.common.converter.DataConverterException;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The arrival of the previous run's state in the history of a run, chunk by chunk. */
final class CarriedArrival {
    private final StateAssembly assembly;
    private final DataConverter converter = PayloadJson.dataConverter();
    private final Set<Long> begun = new HashSet<>();
    private @Nullable Conversation expected;
    private boolean complete;

    CarriedArrival(CarriedReference reference) {
        this.assembly = new StateAssembly(reference);
    }

    CarriedReference reference() {
        return assembly.reference();
    }

    boolean isComplete() {
        return complete;
    }

    /** The state that will arrive, if it was already read from the previous run. */
    Optional<Conversation> expected() {
        return Optional.ofNullable(expected);
    }

    void expect(Conversation state) {
        expected = state;
    }

    /** Whether this activity fetches a chunk; if so, records the event that scheduled it. */
    boolean begins(long eventId, ActivityType type) {
        return type.getName().equals(WireNames.STATE_ACTIVITY) && begun.add(eventId);
    }

    /** Whether this is the end of an activity that fetches a chunk. */
    boolean isOf(WorkClosing closing) {
        return begun.contains(closing.begunBy());
    }

    /** Takes the end of an activity that fetches a chunk, and returns the state once it is complete. */
    Optional<CarriedState> take(WorkClosing closing) {
        Optional<CarriedState> state = assembly.take(chunk(closing).orElse(null));
        complete |= state.isPresent();
        return state;
    }

    /** The chunk that the activity returned; empty if it failed or returned something else. */
    Optional<StateChunk> chunk(WorkClosing closing) {
        if (closing.result().isEmpty()) {
            return Optional.empty();
        }
        try {
            return Optional.ofNullable(converter.fromPayloads(0, closing.result(), StateChunk.class, StateChunk.class));
        } catch (DataConverterException e) {
            return Optional.empty();
        }
    }

    /**
     * The chunks in which a run fetched the state of the previous one.
     *
     * @param chunks the chunks by the ids of the events that contain them
     * @param whole the state; empty if it has not arrived completely
     * @param digest the digest in the chunks that formed the state
     */
    record Chunks(
            CarriedReference reference,
            Map<Long, StateChunk> chunks,
            Optional<CarriedState> whole,
            Optional<String> digest) {
        /** The chunks in the history of a run; empty if the run did not have to fetch its state in chunks. */
        static Optional<Chunks> of(WorkflowExecutionHistory history) {
            return HistoryPages.startInput(history.getEvents().get(0))
                    .inChunks()
                    .map(reference -> of(history, new CarriedArrival(reference)));
        }

        private static Chunks of(WorkflowExecutionHistory history, CarriedArrival arrival) {
            Map<Long, StateChunk> chunks = new LinkedHashMap<>();
            Optional<CarriedState> whole = Optional.empty();
            Optional<String> digest = Optional.empty();
            for (HistoryEvent event : history.getEvents()) {
                if (event.hasActivityTaskScheduledEventAttributes()) {
                    arrival.begins(
                            event.getEventId(),
                            event.getActivityTaskScheduledEventAttributes().getActivityType());
                } else if (event.hasActivityTaskCompletedEventAttributes()) {
                    WorkClosing closing = WorkClosing.of(event, PayloadJson.dataConverter());
                    if (arrival.isOf(closing)) {
                        Optional<StateChunk> chunk = arrival.chunk(closing);
                        chunk.ifPresent(part -> chunks.put(event.getEventId(), part));
                        if (whole.isEmpty()) {
                            whole = arrival.take(closing);
                            digest = whole.flatMap(state -> chunk).map(StateChunk::whole);
                        }
                    }
                }
            }
            return new Chunks(arrival.reference(), chunks, whole, digest);
        }

        /** Whether the state was assembled with this chunk. */
        boolean isOfWhole(StateChunk chunk) {
            return digest.equals(Optional.of(chunk.whole()));
        }
    }
}
