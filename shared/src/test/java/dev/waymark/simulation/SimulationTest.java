package dev.waymark.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.Fact;
import java.util.Optional;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** One seed again: {@code mvn -pl shared test -Dtest=SimulationTest -Dwaymark.seed=123}. */
class SimulationTest {
    private static final int INTERLEAVINGS = 10_000;
    /** As many as a wrong driver or rule may go unnoticed for. */
    private static final int FAULTY = 400;

    /** What must happen at least once, or the simulation proves less than it says. */
    private static final String[] EXPECTED = {
        "continued as new",
        "continued as new within a batch",
        "closed",
        "closed by cancel",
        "limits reached",
        "interruptions",
        "interruptions beside finished siblings",
        "answers to one of several",
        "answers to the only one",
        "messages during a turn",
        "several messages at once",
        "replacements",
        "clears by an empty list",
        "retries",
        "turns continued by a raise",
        "renamed calls",
        "results that arrived",
        "results that the rules gave",
        "replies with 0 calls",
        "replies with 4 calls",
        "turns cancelled",
        "turns complete",
        "turns failed",
        "turns max-iterations",
        "turns stopped",
        "stale model-failed",
        "stale model-replied",
        "stale tool-finished",
        "stale tool-interrupted",
        "stale tool-lost",
        "fact agent-refused",
        "fact message-ignored",
        "accepted cleared",
        "accepted stopped",
        "accepted close-requested",
        "refused user-spoke Duplicate",
        "refused user-spoke Closed",
        "refused user-spoke CheckpointCorruption",
        "refused user-spoke TooLarge",
        "refused user-spoke BadInput",
        "refused user-spoke NotFound",
        "refused human-answered NotFound",
        "refused human-answered Duplicate",
        "refused human-answered CallRequired",
        "refused human-answered AlreadyDecided",
        "refused stopped NotFound",
        "refused budget-raised BadInput",
        "refused approval-decided NotFound"
    };

    private static final Core RULES = Conversation::apply;

    @Test
    void conversation_anyInterleaving_keepsItsPromises() {
        Coverage coverage = new Coverage();
        Optional<Long> one = Optional.ofNullable(Long.getLong("waymark.seed"));
        long first = one.orElse(0L);
        long last = one.orElse((long) INTERLEAVINGS - 1);
        LongStream.rangeClosed(first, last).parallel().forEach(seed -> coverage.add(simulate(seed)));
        System.out.println("Simulated " + (last - first + 1) + " interleavings: " + coverage.counts());

        if (one.isEmpty()) {
            assertThat(coverage.counts()).containsKeys(EXPECTED);
        }
    }

    @ParameterizedTest
    @EnumSource(value = Simulation.Fault.class, mode = EnumSource.Mode.EXCLUDE, names = "NONE")
    void simulation_driverWithAFault_noticesIt(Simulation.Fault fault) {
        assertThat(firstViolation(RULES, fault)).isPresent();
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("brokenRules")
    void simulation_brokenRule_noticesIt(String name, Core broken, String violation) {
        assertThat(firstViolation(broken, Simulation.Fault.NONE))
                .hasValueSatisfying(what -> assertThat(what).contains(violation));
    }

    static Stream<Arguments> brokenRules() {
        return Stream.of(
                broken("stop drops the queue", "touched the queue", (before, fact, after) -> {
                    if (fact instanceof Fact.Stopped) {
                        after.putArray("queue");
                    }
                }),
                broken("a message is lost while a turn runs", "lost, doubled or shuffled", (before, fact, after) -> {
                    if (fact instanceof Fact.UserSpoke
                            && before.turn().isRunning()
                            && after.withArray("queue").size() > 1) {
                        after.withArray("queue").remove(0);
                    }
                }),
                broken("results in another order", "order of the calls", (before, fact, after) -> {
                    if (fact instanceof Fact.ModelCalled && before.batch().size() > 1) {
                        ArrayNode results = (ArrayNode) after.at("/transcript/entries")
                                .get(before.transcript().count())
                                .at("/message/content");
                        results.add(results.remove(0));
                    }
                }),
                broken("an interrupt loses its siblings' results", "lost or changed", (before, fact, after) -> {
                    if (fact instanceof Fact.ToolInterrupted && !before.calls().equals(Doctor.calls(after))) {
                        for (String id : before.batch()) {
                            ObjectNode call = (ObjectNode) after.get("calls").get(id);
                            if (call.has("result")) {
                                call.put("result", "");
                            }
                        }
                    }
                }),
                broken("a lost tool stays open", "no result will come", (before, fact, after) -> {
                    if (fact instanceof Fact.ToolLost lost && !before.calls().equals(Doctor.calls(after))) {
                        ((ObjectNode) after.get("calls").get(lost.callId())).put("status", "dispatched");
                    }
                }),
                broken("a late failure is taken for the next call's", "a stale model-failed", (before, fact, after) -> {
                    if (fact instanceof Fact.ModelFailed && before.modelCalled()) {
                        after.put("modelCalled", false);
                    }
                }),
                broken("a clear counts messages anew", "went back", (before, fact, after) -> {
                    if (fact instanceof Fact.Cleared) {
                        ((ObjectNode) after.get("counters")).put("messages", 0);
                    }
                }),
                broken("ids are forgotten at a clear", "not remembered", (before, fact, after) -> {
                    if (fact instanceof Fact.UserSpoke) {
                        after.putObject("seen").putObject("young");
                        after.withObject("/seen").putObject("old");
                    }
                }),
                broken("a failed agent leaves its turn running", "nothing is decided", (before, fact, after) -> {
                    if (fact instanceof Fact.AgentRefused) {
                        ((ObjectNode) after.get("turn")).put("status", "running");
                        after.put("life", "open");
                    }
                }),
                broken(
                        "a commit skips what cancelled calls came to",
                        "refuse the transcript",
                        (before, fact, after) -> {
                            if (fact instanceof Fact.ModelCalled
                                    && !before.batch().isEmpty()) {
                                ((ArrayNode) after.at("/transcript/entries"))
                                        .remove(before.transcript().count());
                            }
                        }));
    }

    private interface Change {
        void make(Conversation before, Fact fact, ObjectNode after);
    }

    private static Arguments broken(String name, String violation, Change change) {
        Core core = (before, fact, at) -> {
            Conversation after = before.apply(fact, at);
            return Doctor.edit(after, tree -> change.make(before, fact, tree));
        };
        return Arguments.of(name, core, violation);
    }

    private static Optional<String> firstViolation(Core core, Simulation.Fault fault) {
        for (long seed = 0; seed < FAULTY; seed++) {
            try {
                new Simulation(seed, core, fault, new Coverage()).run();
            } catch (Violation violation) {
                return Optional.of(violation.getMessage());
            }
        }
        return Optional.empty();
    }

    private static Coverage simulate(long seed) {
        Coverage coverage = new Coverage();
        Simulation simulation = new Simulation(seed, RULES, Simulation.Fault.NONE, coverage);
        try {
            simulation.run();
            return coverage;
        } catch (RuntimeException e) {
            throw new AssertionError(
                    "mvn -pl shared test -Dtest=SimulationTest -Dwaymark.seed=" + seed + "\n" + e + "\n"
                            + simulation.story(),
                    e);
        }
    }
}
