package dev.waymark.worker.model;

import com.fasterxml.jackson.core.JsonProcessingException;
import dev.waymark.agent.AgentSpec;
import dev.waymark.contract.PayloadJson;
import dev.waymark.contract.work.ModelInput;
import dev.waymark.contract.work.ModelResult;
import dev.waymark.contract.work.PartialReply;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.fact.Fact;
import dev.waymark.conversation.fact.ModelFact;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.message.Transcript;
import dev.waymark.conversation.rule.Rules;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Problem;
import dev.waymark.conversation.value.ProblemType;
import dev.waymark.conversation.value.Spent;
import dev.waymark.history.RunReader;
import dev.waymark.model.ModelRequest;
import dev.waymark.tool.ToolArguments;
import dev.waymark.worker.activity.ActivityProblems;
import dev.waymark.worker.activity.Heartbeat;
import dev.waymark.worker.judge.CallJudges;
import dev.waymark.worker.metrics.AttemptMetrics;
import dev.waymark.worker.model.http.ProviderFailures;
import dev.waymark.worker.provider.ModelProviders;
import dev.waymark.worker.tool.FusedCalls;
import io.temporal.activity.Activity;
import io.temporal.activity.ActivityInfo;
import io.temporal.client.ActivityCanceledException;
import io.temporal.common.converter.DataConverterException;
import java.time.Duration;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Calls the model with the conversation read from the run's history. The input holds only the length and the digest of
 * the conversation; a conversation that does not match them is never sent.
 */
public final class ModelActivityImpl implements ModelActivity {
    /**
     * Half of Temporal's limit of 2 MiB for a result. Temporal rejects a larger result, and the reply would be lost
     * after it was paid for.
     */
    private static final int MOST_REPLY_BYTES = 1024 * 1024;

    /** A larger reply is returned at once: heartbeats would send it again and again. */
    private static final int MOST_SAVED_BYTES = 64 * 1024;

    private static final Logger LOG = LoggerFactory.getLogger(ModelActivityImpl.class);

    private final RunReader runs;
    private final ModelCaller attempts;
    private final CallJudges judges;
    private final FusedCalls calls;
    private final LiveReplies live;
    private final AttemptMetrics metrics;

    /**
     * @param judges asks the rules about the calls of replies whose workflow asks for it
     * @param calls runs the calls of replies whose workflow asks for it
     * @param live shows replies to clients while they stream
     */
    public ModelActivityImpl(
            RunReader runs,
            ModelProviders providers,
            CallJudges judges,
            FusedCalls calls,
            LiveReplies live,
            AttemptMetrics metrics) {
        this.runs = runs;
        this.attempts = new ModelCaller(providers, metrics);
        this.judges = judges;
        this.calls = calls;
        this.live = live;
        this.metrics = metrics;
    }

    /**
     * One attempt of a model call.
     *
     * @param words what it shows of its progress
     * @param began when it began, in the time of {@link System#nanoTime}
     */
    private record Attempt(
            ModelInput input, RunReader.Called called, ModelAttempt words, Heartbeat heartbeat, long began) {
        AgentSpec agent() {
            return called.agent();
        }

        Conversation state() {
            return called.state();
        }
    }

    @Override
    public ModelResult call(ModelInput input) {
        long began = System.nanoTime();
        ActivityInfo info = Activity.getExecutionContext().getInfo();
        Optional<PartialReply> before = before(input);
        ModelAttempt words = words(input, info, before);
        Optional<PartialReply.SavedReply> saved =
                before.flatMap(PartialReply::saved).filter(reply -> reply.isFor(info.getWorkflowRunId(), input));
        saved.ifPresent(words::save);
        try (Heartbeat heartbeat = Heartbeat.showing(() -> words.now().askedAt(live.queue()));
                LiveReplies.Shown shown = live.show(info.getWorkflowId(), info.getWorkflowRunId(), words)) {
            words.atFirstWord(heartbeat::sendAtOnce);
            Optional<RunReader.Called> called = saved.isPresent() ? Optional.empty() : Optional.of(called(info, input));
            boolean replied = false;
            try {
                ModelResult result = called.isEmpty()
                        ? ModelResult.of(saved.orElseThrow().reply())
                        : result(new Attempt(input, called.get(), words, heartbeat, began));
                heartbeat.awaitKeys();
                replied = true;
                return result;
            } catch (InterruptedException e) {
                throw withSpending(heartbeat.cancellation(e), words);
            } finally {
                if (!replied) {
                    words.model().ifPresent(model -> metrics.wasted(model, words.own()));
                    // Sends the last heartbeat, because the next attempt needs the spending of this one, even after a
                    // failure.
                    heartbeat.finish();
                }
            }
        }
    }

    /**
     * Gets the reply and completes it step by step. A cancellation interrupts any of them but the last. An error after
     * the check does not fail this activity, because the reply is already paid for.
     */
    private ModelResult result(Attempt attempt) throws InterruptedException {
        AgentSpec agent = attempt.agent();
        if (attempt.input().summary()) {
            return ModelResult.of(checked(asked(ModelPrompt.summary(attempt.state(), agent), attempt), attempt));
        }
        // Fails permanently if the schema of the turn is invalid.
        Optional<Json> schema = schema(attempt);
        // Asks one model. Its failure is final, or retried with this model or another one.
        Reply asked = asked(ModelPrompt.request(attempt.state(), agent), attempt);
        // Replaces use_tool with the tools that it calls. Adds the value for the schema, or the reason why there is
        // none, and the faults of the calls.
        Reply examined = ModelPrompt.examined(asked, agent, schema, (tool, args) -> calls.misfit(agent, tool, args));
        // Replaces incomplete characters. Fails permanently if the reply is too large; retried if it can't be encoded.
        Reply checked = checked(examined, attempt);
        // Adds the verdicts of the agent's rules, if the workflow asks for them and they fit.
        Reply judged = judged(checked, attempt);
        // Adds a digest of the reply's content, if the reply ends the turn.
        Reply sealed = judged.sealed();
        // Adds the outcomes of the calls, if the workflow allows it and all of them can run here.
        return withOutcomes(sealed, attempt);
    }

    /**
     * Returns a failure that reports the cost of the call, because a cancellation cannot. After a pause or a shutdown
     * of the worker, returns the exception itself, because another attempt follows.
     */
    private static RuntimeException withSpending(RuntimeException cancellation, ModelAttempt words) {
        return cancellation instanceof ActivityCanceledException
                        && !words.spent().isNothing()
                ? ActivityProblems.permanent(new Problem(ProblemType.CANCELLED, "cancelled"), words.spent())
                : cancellation;
    }

    /**
     * The progress of this call that earlier attempts reported. The server passes on the details of the last heartbeat.
     */
    private static Optional<PartialReply> before(ModelInput input) {
        try {
            return Activity.getExecutionContext()
                    .getHeartbeatDetails(PartialReply.class)
                    .filter(told -> told.step() == input.step());
        } catch (DataConverterException e) {
            return Optional.empty(); // The details were written by another version of Waymark.
        }
    }

    private static ModelAttempt words(ModelInput input, ActivityInfo info, Optional<PartialReply> before) {
        return new ModelAttempt(
                input.step(),
                info.getAttempt(),
                before.flatMap(PartialReply::spent).orElse(Spent.NOTHING),
                before.map(told -> new ModelChain.Failed(told.failed(), told.unusable(), told.withoutReasoning()))
                        .orElse(ModelChain.Failed.NOTHING),
                before.flatMap(PartialReply::failingSince),
                !input.summary());
    }

    private RunReader.Called called(ActivityInfo info, ModelInput input) {
        RunReader.Called called = metrics.projection(() ->
                ActivityProblems.reading(() -> runs.atModelCall(info.getWorkflowId(), info.getWorkflowRunId(), input)));
        check(input, called.state().counters().steps(), called.state().transcript());
        return called;
    }

    private static void check(ModelInput input, int step, Transcript transcript) {
        if (step != input.step()) {
            String words = "model call " + input.step() + " was superseded by call " + step;
            throw ActivityProblems.permanent(new Problem(ProblemType.SUPERSEDED, words));
        }
        if (!input.isOf(transcript)) {
            String words = "the conversation in history does not match the request: " + transcript.count()
                    + " messages with digest " + transcript.digest() + ", expected " + input.messageCount()
                    + " messages with digest " + input.digest();
            throw ActivityProblems.permanent(new Problem(ProblemType.CORRUPTION, words));
        }
    }

    private static Optional<Json> schema(Attempt attempt) {
        Optional<Json> schema = attempt.state().turn().schema();
        schema.flatMap(ToolArguments::malformation).ifPresent(why -> {
            throw ActivityProblems.permanent(
                    new Problem(ProblemType.BAD_INPUT, "the schema is not a JSON Schema: " + why));
        });
        return schema;
    }

    private Reply asked(ModelRequest request, Attempt attempt) throws InterruptedException {
        return attempts.ask(request, attempt.called(), attempt.words(), attempt.heartbeat()::isCancelled);
    }

    private static Reply checked(Reply reply, Attempt attempt) {
        Spent spent = attempt.words().spent();
        try {
            int bytes = PayloadJson.MAPPER.writeValueAsBytes(reply).length;
            if (bytes > MOST_REPLY_BYTES) {
                String why = "the model's reply has " + bytes + " bytes, at most " + MOST_REPLY_BYTES;
                throw ActivityProblems.permanent(new Problem(ProviderFailures.REPLY_TOO_LARGE.type(), why), spent);
            }
            return ModelPrompt.withWholeCharacters(reply);
        } catch (JsonProcessingException e) {
            String why = "the model's reply can't be encoded as JSON";
            throw ActivityProblems.passing(
                    new Problem(ProviderFailures.MALFORMED_REPLY.type(), why), Optional.empty(), spent);
        }
    }

    /**
     * Adds the verdicts of the agent's rules. If the reply would become too large, it gets none, and each call is
     * judged in an activity of its own.
     */
    private Reply judged(Reply reply, Attempt attempt) throws InterruptedException {
        Optional<ModelInput.VerdictRequest> verdicts = attempt.input().verdicts();
        if (verdicts.isEmpty()) {
            return reply;
        }
        Reply judged = judges.judged(
                reply, attempt.state(), attempt.agent(), verdicts.get().owner());
        if (judged.verdicts().isEmpty()) {
            return reply;
        }
        try {
            return PayloadJson.MAPPER.writeValueAsBytes(judged).length <= MOST_REPLY_BYTES ? judged : reply;
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("cannot write the verdict as JSON", e);
        }
    }

    /**
     * Runs the calls of the reply here, if all of them can be, and returns the reply with their outcomes. A call
     * without an outcome is dispatched by the workflow.
     */
    private ModelResult withOutcomes(Reply reply, Attempt attempt) {
        if (!attempt.input().fuse() || reply.isLastWord()) {
            return ModelResult.of(reply);
        }
        ActivityInfo info = Activity.getExecutionContext().getInfo();
        try {
            if (PayloadJson.MAPPER.writeValueAsBytes(reply).length > MOST_SAVED_BYTES) {
                return ModelResult.of(reply);
            }
            Fact replied = new ModelFact.ModelReplied(attempt.input().step(), reply);
            Conversation after =
                    Rules.apply(attempt.state(), replied, attempt.state().updatedAt());
            Duration left = info.getStartToCloseTimeout().minusNanos(System.nanoTime() - attempt.began());
            Optional<FusedCalls.Batch> batch = calls.prepare(info.getWorkflowId(), attempt.called(), after, left);
            if (batch.isEmpty()) {
                return ModelResult.of(reply);
            }
            ModelAttempt words = attempt.words();
            words.save(new PartialReply.SavedReply(
                    info.getWorkflowRunId(), attempt.input().digest(), reply));
            words.runs(batch.get().calls());
            attempt.heartbeat().sendAtOnce();
            return new ModelResult(reply, batch.get().run(words::ended));
        } catch (RuntimeException | JsonProcessingException e) {
            LOG.warn("the calls of a reply in {} are dispatched one by one", info.getWorkflowId(), e);
            return ModelResult.of(reply);
        }
    }
}
