package dev.waymark.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.conversation.rule.Rules;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * To repeat one seed, run {@code mvn -pl shared test -Dtest=SimulationTest -Dwaymark.seed=123}. To test more seeds
 * before a release, use {@code -Dwaymark.seed=100000-200000}.
 */
class SimulationTest {
    private static final int INTERLEAVINGS = 2_000;
    /** The number of simulations that begin with a file. */
    private static final int FILES = 500;

    /** Events that must happen at least once, because the simulation tests only events that happen. */
    private static final String[] EXPECTED = {
        "continued as new",
        "continued as new within a batch",
        "carried over in chunks",
        "fetches lost",
        "chunks repeated",
        "chunks out of order",
        "chunks left to another build",
        "chunks of another build",
        "chunks of another state",
        "wholes with an altered chunk",
        "altered chunks",
        "results that are no chunk",
        "crashes between chunks",
        "resets between chunks",
        "resets into an earlier run",
        "arrivals while a state is fetched",
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
        "steps in one activity",
        "steps with calls left over",
        "stale replies with outcomes",
        "results that arrived",
        "results that the rules gave",
        "results that were cut",
        "reads of whole results",
        "reads beyond the end",
        "reads: Tool error: this conversation has no call …",
        "reads: Tool error: the call … has no result yet",
        "reads: Tool error: the result of the call … was not cut: all of it is in the conversation",
        "reads: Tool error: the whole result of the call … is not kept any more, only what you were shown of it. Call the"
                + " tool again if you need the rest and a second call does no harm.",
        "searches",
        "searches without a hit",
        "replies with 0 calls",
        "replies with 4 calls",
        "turns cancelled",
        "turns complete",
        "turns failed",
        "turns max-iterations",
        "turns budget",
        "turns stopped",
        "summaries",
        "summaries without words",
        "calls dropped by a summary",
        "stale summarised",
        "stale summary-failed",
        "fact summary-failed",
        "repairs that ended complete",
        "repairs that ended failed",
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
        "refused approval-decided NotFound",
        "refused approval-decided AlreadyDecided",
        "refused approval-decided ArgsChanged",
        "refused approval-decided CallRequired",
        "refused outcome-settled AlreadyDecided",
        "refused outcome-settled NotFound",
        "accepted outcome-settled",
        "approved as they were",
        "approved with other arguments",
        "denied by somebody",
        "denied by time",
        "denied by nobody",
        "ran because of a grant",
        "approved calls whose tool has changed",
        "definitions approved",
        "accepted grant-revoked",
        "refused grant-revoked NotFound",
        "refused grant-revoked AlreadyDecided",
        "effects",
        "effects of zombies",
        "five side effects at a time",
        "late claims refused",
        "untrusted results",
        "untrusted words before",
        "untrusted words never",
        "untrusted words since the last message",
        "claims refused AlreadyDecided",
        "workers lost before a claim",
        "workers lost after a claim",
        "workers lost after the effect",
        "workers ended after a claim",
        "verifies before the fence",
        "second attempts",
        "own claims given back",
        "late results of cancelled calls",
        "calls dispatched again",
        "calls held",
        "calls lost",
        "calls unknown",
        "calls unsettled",
        "ends that nobody can tell",
        "executions that took too long",
        "accepted tool-ended-late",
        "refused tool-ended-late AlreadyDecided",
        "refused tool-ended-late NotFound",
        "late outcomes of calls cancelled",
        "late outcomes of calls claimed",
        "late outcomes of calls doubted",
        "late outcomes of calls lost",
        "late outcomes of calls unknown",
        "late outcomes of calls unsettled",
        "late outcomes of calls verifying",
        "verified true",
        "verified false",
        "verified null",
        "reruns",
        "replays",
        "resets",
        "activities of before a reset",
        "claims restored to nothing",
        "claims restored to issued",
        "claims restored to dispatched",
        "claims restored to claimed",
        "claims restored to held",
        "claims restored to unknown",
        "claims restored to cancelled",
        "claims restored to denied",
        "remembered claims met again",
        "calls delegated",
        "reports to the parent",
        "decisions below",
        "fact subagent-reported",
        "fact subagent-finished",
        "fact subagent-not-started",
        "fact subagents-cut-off",
        "fact decision-passed-on",
        "fact announcement-begun",
        "fact announcement-ended",
        "refused subagent-reported NotFound"
    };

    private static final Core RULES = Rules::apply;

    @Test
    void conversation_anyInterleaving_keepsTheInvariants() {
        Optional<String> asked = Optional.ofNullable(System.getProperty("waymark.seed"));
        String[] seeds = asked.orElse("0-" + (INTERLEAVINGS - 1)).split("-");
        Coverage coverage = simulated(Long.parseLong(seeds[0]), Long.parseLong(seeds[seeds.length - 1]));

        assertThat(notInTheTable(coverage)).isEmpty();
        if (asked.isEmpty()) {
            assertThat(coverage.counts()).containsKeys(EXPECTED);
            assertThat(CallLife.seen(coverage))
                    .containsAll(CallTransitions.frequent().toList());
        }
    }

    /** Only decisions of people let calls of a file run. */
    @Test
    void threadFromAFile_anyInterleaving_keepsTheInvariants() {
        Coverage coverage = simulated(Simulation.FILE_SEEDS, Simulation.FILE_SEEDS + FILES);

        assertThat(notInTheTable(coverage)).isEmpty();
        assertThat(coverage.counts())
                .containsKeys("decided calls of files", "safe calls of files", "move awaiting -> unknown by person");
    }

    /** Tests seeds beyond those that every build tests. */
    @Test
    @Tag("full")
    void conversation_moreInterleavings_keepTheInvariants() {
        Coverage coverage = simulated(INTERLEAVINGS, 4 * INTERLEAVINGS);
        coverage.add(simulated(Simulation.FILE_SEEDS + FILES, Simulation.FILE_SEEDS + 4 * FILES));

        assertThat(notInTheTable(coverage)).isEmpty();
    }

    /** {@code -Dpage.record=true} writes the table into the page. */
    @Test
    void callLifePage_containsTheTable() throws IOException {
        Path file = Path.of("..", "docs", "call-life.md");
        String page = Files.readString(file);
        String printed = page.replaceFirst("(?m)(?:^\\| `.*\\n)+", Matcher.quoteReplacement(CallTransitions.printed()));
        if (Boolean.getBoolean("page.record")) {
            Files.writeString(file, printed);
        }

        assertThat(Files.readString(file)).isEqualTo(printed);
    }

    private static Set<String> notInTheTable(Coverage coverage) {
        Set<String> moves = new TreeSet<>(CallLife.seen(coverage));
        moves.removeAll(CallTransitions.all().toList());
        return moves;
    }

    private static Coverage simulated(long first, long last) {
        Coverage coverage = new Coverage();
        LongStream.rangeClosed(first, last).parallel().forEach(seed -> coverage.add(simulate(seed)));
        System.out.println("Simulated " + (last - first + 1) + " interleavings: " + coverage.counts());
        return coverage;
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
