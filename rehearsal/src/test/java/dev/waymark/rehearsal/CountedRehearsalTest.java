package dev.waymark.rehearsal;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.agent.AgentSpec;
import dev.waymark.agent.Pricing;
import dev.waymark.agent.ToolSpec;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.value.Usage;
import dev.waymark.conversation.value.Usd;
import dev.waymark.history.HistoryAudit;
import dev.waymark.history.ThreadHistory;
import dev.waymark.model.ModelFailure;
import dev.waymark.model.ModelProvider;
import dev.waymark.model.ModelRequest;
import dev.waymark.model.ReplyListener;
import dev.waymark.rehearsal.gate.ThreadSource;
import dev.waymark.worker.agents.AgentDirectory;
import dev.waymark.worker.provider.ModelProviders;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A thread that called a subagent, and what a rehearsal counts about it: effects, differences, costs. */
class CountedRehearsalTest {
    private static final ModelProvider SILENT = new FreeModel(request -> Reply.of(new Part.Text("No.")));

    @TempDir
    Path directory;

    /** The thread of {@code boss}, and the one that its first call has started. */
    private record Threads() implements ThreadSource {
        @Override
        public List<String> names() {
            return List.of("boss");
        }

        @Override
        public Optional<ThreadHistory> read(String name) {
            String file = name.equals("boss") ? "subagents-answered-and-stopped" : "subagent-that-was-answered";
            try {
                return Optional.of(ThreadHistory.parse(
                        Files.readString(Path.of("../worker/src/test/resources/histories", file + ".json"))));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        @Override
        public Optional<HistoryAudit.Live> live(String name) {
            return Optional.empty();
        }
    }

    private static AgentSpec recorded(String thread) {
        return new Threads().read(thread).orElseThrow().timeline().agent().orElseThrow();
    }

    private RehearsalReport.OfCandidate rehearse(Optional<AgentDirectory> agents, ModelProvider model)
            throws Exception {
        Spending spending = new Spending(Usd.of(BigDecimal.TEN));
        return rehearse(agents, model, spending);
    }

    private RehearsalReport.OfCandidate rehearse(
            Optional<AgentDirectory> agents, ModelProvider model, Spending spending) throws Exception {
        ModelProviders providers = ModelProviders.of(Map.of("fake", model));
        return new Rehearsal(
                        List.of(new Candidate("new", agents, providers, Map.of(), Optional.empty())),
                        RehearsalSettings.DEFAULT,
                        Optional.empty(),
                        new AnswerStore(directory.resolve("answers"), Optional.empty()),
                        spending)
                .run(new Threads(), 1, (part, decided) -> {})
                .candidates()
                .get(0);
    }

    private Optional<AgentDirectory> agents(AgentSpec... agents) {
        return Optional.of(AgentDirectory.of(directory, List.of(agents)));
    }

    @ParameterizedTest
    @CsvSource({"scout, true", "deeper, true", "harmless, false", "recorded, true"})
    void subagentThatIsLeftOut_countsByItsPossibleEffects(String which, boolean isEffect) throws Exception {
        AgentSpec scout = new AgentSpec.Builder("scout", "fake:model")
                .tools(
                        which.equals("deeper")
                                ? List.of(ToolSpec.subagent("payer", "Pays"))
                                : List.of(
                                        which.equals("scout")
                                                ? ToolSpec.command("pay", "./pay.sh")
                                                        .build()
                                                : ToolSpec.command("look", "./look.sh")
                                                        .safeToRetry()
                                                        .build()))
                .build();
        AgentSpec payer = new AgentSpec.Builder("payer", "fake:model")
                .tools(List.of(ToolSpec.command("pay", "./pay.sh").build()))
                .build();

        List<RehearsalReport.Changes> changes = rehearse(
                        which.equals("recorded") ? Optional.empty() : agents(recorded("boss"), scout, payer), SILENT)
                .changes();

        assertThat(changes)
                .filteredOn(each -> each.change().tool().equals("scout"))
                .isNotEmpty()
                .allMatch(each -> each.change().effect() == isEffect);
    }

    @Test
    void subagentsDefinition_isComparedWithThatOfItsThread() throws Exception {
        AgentSpec scout = recorded("scout");

        assertThat(rehearse(agents(recorded("boss"), scout), SILENT).differences())
                .isEmpty();
        assertThat(rehearse(
                                agents(
                                        recorded("boss"),
                                        scout.with()
                                                .instructions("Pay whoever asks.")
                                                .maxTokens(99)
                                                .build()),
                                SILENT)
                        .differences())
                .containsExactly("subagent `scout`: instructions", "subagent `scout`: max_tokens 16000 → 99");
    }

    /** Whether a cache is warm or cold says nothing about an agent. */
    @Test
    void costs_areComparedAsIfNothingWereCached() throws Exception {
        ModelProvider cached = new Priced(
                (request, listener) -> new Reply(List.of(new Part.Text("No.")), new Usage(10, 1, 10, 0), "end_turn"));

        RehearsalReport.OfCandidate result = rehearse(Optional.empty(), cached);

        assertThat(result.recorded().spent().usage().inputTokens()).isEqualTo(10L * result.replies());
        assertThat(result.now().spent().cost())
                .isEqualTo(result.recorded().spent().cost())
                .isPresent();
    }

    @ParameterizedTest
    @CsvSource({"ServerError, false, 0", "Unreachable, false, 0", "CallCut, true, 0.000045", "Refused, true, 0.000045"})
    void failedAnswer_releasesTheUnspentReservation(String type, boolean isCounted, String each) throws Exception {
        ModelProvider failing = new Priced((request, listener) -> {
            if (isCounted) {
                listener.usage(new Usage(10, 1));
            }
            throw ModelFailure.permanent(type, "failed");
        });
        Spending spending = new Spending(Usd.of(BigDecimal.TEN));
        RehearsalReport.OfCandidate result = rehearse(Optional.empty(), failing, spending);

        assertThat(result.failed()).isPositive();
        assertThat(spending.spent().dollars())
                .isEqualByComparingTo(new BigDecimal(each).multiply(BigDecimal.valueOf(result.failed())));
    }

    @ParameterizedTest
    @CsvSource({"StreamCut", "ModelSilent"})
    void answerThatMayHaveCost_keepsItsReservation(String type) throws Exception {
        ModelProvider failing = new Priced((request, listener) -> {
            throw ModelFailure.permanent(type, "failed");
        });
        Spending spending = new Spending(Usd.of(BigDecimal.TEN));
        rehearse(Optional.empty(), failing, spending);

        assertThat(spending.spent()).isGreaterThan(Usd.ZERO);
    }

    private interface Answering {
        Reply reply(ModelRequest request, ReplyListener listener) throws ModelFailure;
    }

    /** A provider whose models cost 3 dollars for input, 0.3 if it is cached, and 15 for output. */
    private record Priced(Answering answering) implements ModelProvider {
        @Override
        public Reply reply(ModelRequest request) throws ModelFailure {
            throw new AssertionError("asked without a listener");
        }

        @Override
        public Reply reply(ModelRequest request, ReplyListener listener) throws ModelFailure {
            return answering.reply(request, listener);
        }

        @Override
        public Optional<Pricing> pricing(String model) {
            return Optional.of(Pricing.of("3", "15").withCache("0.3", "3.75"));
        }
    }
}
