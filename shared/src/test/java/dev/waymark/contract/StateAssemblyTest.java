package dev.waymark.contract;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.contract.thread.StartInput;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.fact.Fact;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.fact.ThreadFact;
import dev.waymark.conversation.rule.Rules;
import dev.waymark.conversation.state.ThreadIdentity;
import java.time.Instant;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;

class StateAssemblyTest {
    private static final CarriedState STATE = new CarriedState(conversation(), Optional.empty());
    private static final ChunkedState CHUNKED = ChunkedState.of(STATE);
    private static final CarriedReference REFERENCE = CarriedReference.of("run-1", STATE.state());

    private final StateAssembly assembly = new StateAssembly(REFERENCE);

    private static Conversation conversation() {
        Instant at = Instant.EPOCH;
        byte[] noise = new byte[190_000];
        List<Fact> facts = StartInput.of("a").facts();
        Conversation state = Rules.start((ThreadFact.RunStarted) facts.get(0), at);
        for (int i = 0; i < 10; i++) {
            new Random(i).nextBytes(noise);
            PersonFact.UserSpoke said =
                    PersonFact.UserSpoke.message("m-" + i, Base64.getEncoder().encodeToString(noise));
            state = Rules.apply(state, StartInput.of("a").saying(said).facts().get(1), at);
        }
        return state;
    }

    @Test
    void chunks_ofOneState_formTheState() {
        assertThat(CHUNKED.count()).isEqualTo(3);
        assertThat(assembly.next()).isEqualTo(new StateChunkInput(REFERENCE, 0, Optional.empty()));

        assertThat(assembly.take(CHUNKED.chunk(0))).isEmpty();
        assertThat(assembly.next()).isEqualTo(new StateChunkInput(REFERENCE, 1, Optional.of(CHUNKED.whole())));
        assertThat(assembly.take(CHUNKED.chunk(1))).isEmpty();
        assertThat(assembly.take(CHUNKED.chunk(2))).contains(STATE);
    }

    @Test
    void chunk_ofIncompressibleText_fitsIntoAPayload() {
        assertThat(CHUNKED.chunk(1).bytes().length()).isBetween(800_000, 1_500_000);
    }

    /** Another build may write the same state as different bytes, so chunks of two builds do not fit together. */
    @Test
    void chunks_ofAnotherBuild_replaceTheFirstOnes() {
        StateChunk first = CHUNKED.chunk(0);
        assembly.take(new StateChunk(0, 3, "other", first.bytes()));

        assertThat(assembly.take(CHUNKED.chunk(1))).isEmpty();
        assertThat(assembly.next()).isEqualTo(new StateChunkInput(REFERENCE, 0, Optional.of(CHUNKED.whole())));
        assertThat(assembly.take(CHUNKED.chunk(0))).isEmpty();
        assertThat(assembly.take(CHUNKED.chunk(2))).contains(STATE);
    }

    @Test
    void resultThatIsNotAChunk_isFetchedAgain() {
        assembly.take(CHUNKED.chunk(0));
        for (StateChunk none : new StateChunk[] {
            null,
            new StateChunk(-1, 3, CHUNKED.whole(), ""),
            new StateChunk(3, 3, CHUNKED.whole(), ""),
            new StateChunk(0, 0, CHUNKED.whole(), ""),
            new StateChunk(0, 1_000_000, CHUNKED.whole(), "")
        }) {
            assertThat(assembly.take(none)).isEmpty();
            assertThat(assembly.next().index()).isEqualTo(1);
        }
    }

    @Test
    void chunks_thatDoNotFormTheState_areFetchedAgain() {
        assembly.take(CHUNKED.chunk(0));
        assembly.take(CHUNKED.chunk(1));
        assertThat(assembly.take(
                        new StateChunk(2, 3, CHUNKED.whole(), CHUNKED.chunk(1).bytes())))
                .isEmpty();
        assertThat(assembly.next()).isEqualTo(new StateChunkInput(REFERENCE, 0, Optional.empty()));

        assertThat(assembly.take(new StateChunk(0, 1, "x", "no base64"))).isEmpty();
        assertThat(assembly.next()).isEqualTo(new StateChunkInput(REFERENCE, 0, Optional.empty()));
    }

    @Test
    void state_withAnotherReference_isNotAccepted() {
        StateAssembly other = new StateAssembly(new CarriedReference(
                "run-1", REFERENCE.facts() + 1, REFERENCE.messages(), REFERENCE.digest(), REFERENCE.decisions()));
        other.take(CHUNKED.chunk(0));
        other.take(CHUNKED.chunk(1));

        assertThat(other.take(CHUNKED.chunk(2))).isEmpty();
    }

    /**
     * A history whose texts are masked keeps its number of chunks, so the masked state, which may be smaller, is cut
     * into as many chunks as the original.
     */
    @Test
    void smallerState_inMoreChunksThanNeeded_isAssembled() {
        for (int i = 0; i < 6; i++) {
            assertThat(assembly.take(CHUNKED.chunk(i, 7))).isEmpty();
        }
        assertThat(assembly.take(CHUNKED.chunk(6, 7))).contains(STATE);
    }

    @Test
    void startInput_inChunks_hasAReferenceInsteadOfAState() {
        StartInput next = StartInput.of("a").carrying("packed").carrying(REFERENCE);

        assertThat(next.inChunks()).contains(REFERENCE);
        assertThat(next.carried()).isEmpty();
        assertThat(next.rules()).isEqualTo(ThreadIdentity.RULES);
    }
}
