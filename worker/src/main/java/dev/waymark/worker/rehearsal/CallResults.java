package dev.waymark.worker.rehearsal;

import com.fasterxml.jackson.core.JsonProcessingException;
import dev.waymark.agent.AgentSpec;
import dev.waymark.agent.ToolSpec;
import dev.waymark.contract.PayloadJson;
import dev.waymark.contract.work.ToolOutcome;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.policy.AgentPolicy;
import dev.waymark.conversation.value.Sha256;
import dev.waymark.history.RecordedDecision;
import io.temporal.failure.ApplicationFailure;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Instant;
import java.util.Optional;

/**
 * The results of calls in a continuation: those that the thread recorded, scripted ones and, for safe tools only, those
 * of running the tool now. What a tool returned is kept, so that the next rehearsal gives the same result.
 */
final class CallResults {
    private final RehearsalSettings settings;
    private final RecordedResults recorded;
    private final Optional<LiveTools> tools;
    private final AnswerStore kept;
    private final Optional<String> encryptedThread;

    /**
     * @param tools runs safe tools, if the candidate can
     * @param encryptedThread the thread, if it is encrypted
     */
    CallResults(
            RehearsalSettings settings,
            RecordedResults recorded,
            Optional<LiveTools> tools,
            AnswerStore kept,
            Optional<String> encryptedThread) {
        this.settings = settings;
        this.recorded = recorded;
        this.tools = tools;
        this.kept = kept;
        this.encryptedThread = encryptedThread;
    }

    /** @param source where the result is from, in a word */
    record CallResult(String content, boolean isError, String source) {}

    /** What a tool returned when it ran for a rehearsal. */
    record KeptResult(String content, boolean isError, Instant at) implements AnswerStore.Dated {}

    /**
     * The result of a call, if there is one.
     *
     * @param from the decision in whose place the candidate has decided
     */
    Optional<CallResult> of(Call call, AgentSpec agent, RecordedDecision from) throws InterruptedException {
        Optional<AgentPolicy> before = from.replied().state().policy();
        Optional<ToolSpec> safe = agent.tool(call.tool()).filter(tool -> LiveTools.isSafe(tool, before));
        if (safe.isPresent() && settings.safeCalls() == SafeCalls.STOP) {
            return Optional.empty();
        }
        Optional<CallResult> known = recorded.of(
                        call, from.replied().state().counters().facts())
                .map(result -> new CallResult(result.content(), result.isError(), "recorded"))
                .or(() -> settings.scriptedResults()
                        .of(call)
                        .map(entry -> new CallResult(entry.content(), entry.isError(), "scripted")));
        return known.isPresent() || safe.isEmpty() || tools.isEmpty() || settings.safeCalls() != SafeCalls.LIVE
                ? known
                : live(call, agent, safe.get(), tools.get());
    }

    private Optional<CallResult> live(Call call, AgentSpec agent, ToolSpec tool, LiveTools runner)
            throws InterruptedException {
        String digest = digest(call, agent, tool);
        Optional<KeptResult> before = kept.find(digest, encryptedThread, KeptResult.class);
        Optional<KeptResult> result = before.isPresent() ? before : run(call, agent, tool, runner);
        if (before.isEmpty() && result.isPresent()) {
            try {
                kept.keep(digest, encryptedThread, result.get());
            } catch (IOException e) {
                throw new UncheckedIOException("a result can't be kept", e);
            }
        }
        return result.map(it -> new CallResult(it.content(), it.isError(), "live"));
    }

    /** Returns empty if the tool asks a person, or could not be run. */
    private static Optional<KeptResult> run(Call call, AgentSpec agent, ToolSpec tool, LiveTools runner)
            throws InterruptedException {
        try {
            ToolOutcome outcome = runner.run(agent, tool, call.args());
            return outcome.result()
                    .map(text -> new KeptResult(text, false, Instant.now()))
                    .or(() -> outcome.error().map(text -> new KeptResult(text, true, Instant.now())));
        } catch (ApplicationFailure e) {
            return Optional.empty(); // For example, because its server cannot be reached.
        }
    }

    private static String digest(Call call, AgentSpec agent, ToolSpec tool) {
        try {
            return Sha256.hex("tool\n" + PayloadJson.MAPPER.writeValueAsString(tool) + "\n"
                    + agent.context().map(context -> context.canonical()).orElse("") + "\n"
                    + call.args().canonical());
        } catch (JsonProcessingException e) {
            throw new IllegalStateException(e);
        }
    }
}
