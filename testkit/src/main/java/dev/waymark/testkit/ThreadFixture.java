package dev.waymark.testkit;

import dev.waymark.annotation.Internal;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.fact.Fact;
import dev.waymark.conversation.fact.ModelFact;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.fact.ThreadFact;
import dev.waymark.conversation.fact.ToolFact;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.policy.AgentPolicy;
import dev.waymark.conversation.rule.Rules;
import dev.waymark.conversation.state.ThreadIdentity;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Problem;
import dev.waymark.conversation.value.Usage;
import dev.waymark.history.Moment;
import dev.waymark.history.RunEnding;
import dev.waymark.history.Timeline;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Builds a thread fact by fact, as the projector would. Each fact has its own event, one second after the last one. */
@Internal
public final class ThreadFixture {
    private static final Instant START = Instant.parse("2026-11-21T10:00:00Z");

    private final List<Moment> moments = new ArrayList<>();

    /** Creates a thread that has only started. */
    public static ThreadFixture begun() {
        ThreadFixture fixture = new ThreadFixture();
        ThreadFact.RunStarted started =
                new ThreadFact.RunStarted(ThreadIdentity.RULES, "assistant", false, Optional.empty());
        fixture.moments.add(new Moment("run-1", 1, START, Optional.of(started), Rules.start(started, START)));
        return fixture;
    }

    /** Creates a thread whose agent is resolved and has these tools, which ask a person. */
    public static ThreadFixture resolved(String... questionTools) {
        Map<String, AgentPolicy.Executor> tools = new LinkedHashMap<>();
        for (String tool : questionTools) {
            tools.put(tool, AgentPolicy.Executor.QUESTION);
        }
        return resolved(new AgentPolicy("assistant", 10, tools));
    }

    /** Creates a thread whose agent is resolved and has this policy. */
    public static ThreadFixture resolved(AgentPolicy policy) {
        return begun().then(new ThreadFact.AgentRequested()).then(new ThreadFact.AgentResolved(policy));
    }

    /** Creates a thread whose agent has the tool {@code charge_card}, which needs a person's approval. */
    public static ThreadFixture charging() {
        AgentPolicy.ToolPolicy policy = new AgentPolicy.ToolPolicy(true, true, false, false, true, 10_000, true, false);
        return resolved(new AgentPolicy(
                "assistant",
                10,
                Map.of("charge_card", AgentPolicy.Executor.ACTIVITY),
                Map.of("charge_card", policy),
                Optional.empty()));
    }

    /** Applies a fact, one second after the last one. */
    public ThreadFixture then(Fact fact) {
        Moment last = moments.get(moments.size() - 1);
        Instant at = last.at().plusSeconds(1);
        moments.add(new Moment(
                last.runId(), last.eventId() + 1, at, Optional.of(fact), Rules.apply(last.state(), fact, at)));
        return this;
    }

    /** Adds a message of the user with this message id. */
    public ThreadFixture says(String id, String words) {
        return then(
                new PersonFact.UserSpoke(Optional.of(id), Optional.empty(), Optional.of(Message.user(words)), false));
    }

    /** Adds a model call. */
    public ThreadFixture callsModel() {
        return then(new ModelFact.ModelCalled(now().counters().steps() + 1));
    }

    /** Adds a reply to the latest model call. */
    public ThreadFixture replies(Part... parts) {
        return then(new ModelFact.ModelReplied(
                now().counters().steps(), new Reply(List.of(parts), new Usage(41, 12), "end_turn")));
    }

    /** Adds a reply of text to the latest model call. */
    public ThreadFixture replies(String words) {
        return replies(new Part.Text(words));
    }

    /** Adds a reply that asks a question, by a call of {@code ask_user}. */
    public ThreadFixture asks(String callId, String question) {
        return replies(ask(callId, question));
    }

    /** Returns a call of {@code ask_user} with this question. */
    public static Part ask(String callId, String question) {
        return new Part.ToolUse(callId, "ask_user", Json.of(Map.of("question", question)));
    }

    /** Adds a reply that calls {@code charge_card}. */
    public ThreadFixture charges(String callId, int cents) {
        return replies(new Part.ToolUse(callId, "charge_card", Json.of(Map.of("cents", cents))));
    }

    /** Adds a person's approval of a call. */
    public ThreadFixture isApproved(String callId, String by) {
        return then(new PersonFact.ApprovalDecided(
                true,
                Optional.empty(),
                Optional.of(callId),
                Optional.empty(),
                Optional.empty(),
                Optional.of(by),
                Optional.empty()));
    }

    /** Dispatches and claims a call of {@code charge_card} and loses its worker, so that the outcome is unknown. */
    public ThreadFixture loses(String callId) {
        String digest = now().calls().get(callId).orElseThrow().argsDigest();
        return then(new ToolFact.ToolDispatched(callId, 1))
                .then(new ToolFact.ToolClaimed(callId, 1, "charge_card", digest, 0, "run-1/1", false))
                .then(new ToolFact.ToolLost(callId, 1, new Problem("Timeout", "the worker is gone")));
    }

    /** Adds a person's answer to a question. */
    public ThreadFixture answers(String callId, String words) {
        return then(new PersonFact.HumanAnswered(Optional.empty(), Optional.of(callId), words, Optional.empty()));
    }

    /** Makes the latest model call fail for good. */
    public ThreadFixture fails(String words) {
        return then(new ModelFact.ModelFailed(now().counters().steps(), new Problem("Overloaded", words)));
    }

    /** Returns the state after the latest fact. */
    public Conversation now() {
        return moments.get(moments.size() - 1).state();
    }

    /** Returns the number of facts so far. */
    public int facts() {
        return now().counters().facts();
    }

    /** Returns all facts so far, each with the state after it. */
    public List<Moment> moments() {
        return moments;
    }

    /** Returns the thread as the projector would read it from a running workflow. */
    public Timeline timeline() {
        return new Timeline("t1", "run-1", moments, now(), Optional.empty(), Optional.empty(), 1_000, false);
    }

    /** Returns the thread as the projector would read it from a completed workflow. */
    public Timeline closed() {
        return new Timeline(
                "t1",
                "run-1",
                moments,
                now(),
                Optional.empty(),
                Optional.of(new RunEnding(RunEnding.Kind.COMPLETED, Optional.empty())),
                1_000,
                false);
    }
}
