package dev.waymark.starter;

import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.Fact;
import dev.waymark.conversation.Json;
import dev.waymark.conversation.Message;
import dev.waymark.conversation.Part;
import dev.waymark.conversation.Problem;
import dev.waymark.conversation.Reply;
import dev.waymark.conversation.Terms;
import dev.waymark.conversation.Usage;
import dev.waymark.history.Ending;
import dev.waymark.history.Moment;
import dev.waymark.history.Timeline;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** A thread told fact by fact, as a projector would: one event and one second each. */
public final class Tale {
    private static final Instant START = Instant.parse("2026-11-21T10:00:00Z");

    private final List<Moment> moments = new ArrayList<>();

    public static Tale begun() {
        Tale tale = new Tale();
        Fact.RunStarted started = new Fact.RunStarted(Conversation.RULES, "assistant", false, Optional.empty());
        tale.moments.add(new Moment("run-1", 1, START, Optional.of(started), Conversation.start(started, START)));
        return tale;
    }

    public static Tale resolved(String... questionTools) {
        Map<String, Terms.ToolKind> tools = new LinkedHashMap<>();
        for (String tool : questionTools) {
            tools.put(tool, Terms.ToolKind.QUESTION);
        }
        return resolved(new Terms("assistant", 10, tools));
    }

    public static Tale resolved(Terms terms) {
        return begun().then(new Fact.AgentRequested()).then(new Fact.AgentResolved(terms));
    }

    /** An agent that may charge cards, once a person has approved it. */
    public static Tale charging() {
        Terms.Care care = new Terms.Care(true, true, false, false, true, true, 10_000);
        return resolved(new Terms(
                "assistant",
                10,
                Map.of("charge_card", Terms.ToolKind.ACTIVITY),
                Map.of("charge_card", care),
                Optional.empty()));
    }

    public Tale then(Fact fact) {
        Moment last = moments.get(moments.size() - 1);
        Instant at = last.at().plusSeconds(1);
        moments.add(new Moment(
                last.runId(),
                last.eventId() + 1,
                at,
                Optional.of(fact),
                last.state().apply(fact, at)));
        return this;
    }

    public Tale says(String id, String words) {
        return then(new Fact.UserSpoke(Optional.of(id), Optional.empty(), Optional.of(Message.user(words)), false));
    }

    public Tale callsModel() {
        return then(new Fact.ModelCalled(now().counters().steps() + 1));
    }

    public Tale replies(Part... parts) {
        return then(new Fact.ModelReplied(
                now().counters().steps(), new Reply(List.of(parts), new Usage(41, 12), "end_turn")));
    }

    public Tale replies(String words) {
        return replies(new Part.Text(words));
    }

    public Tale asks(String callId, String question) {
        return replies(ask(callId, question));
    }

    public static Part ask(String callId, String question) {
        return new Part.ToolUse(callId, "ask_user", Json.of(Map.of("question", question)));
    }

    public Tale charges(String callId, int cents) {
        return replies(new Part.ToolUse(callId, "charge_card", Json.of(Map.of("cents", cents))));
    }

    public Tale isApproved(String callId, String by) {
        return then(new Fact.ApprovalDecided(
                true,
                Optional.empty(),
                Optional.of(callId),
                Optional.empty(),
                Optional.empty(),
                Optional.of(by),
                Optional.empty()));
    }

    /** Its worker is lost after the claim, and nobody knows whether it took effect. */
    public Tale loses(String callId) {
        String digest = now().calls().get(callId).orElseThrow().argsDigest();
        return then(new Fact.ToolDispatched(callId, 1))
                .then(new Fact.ToolClaimed(callId, 1, "charge_card", digest, 0, "run-1/1", false))
                .then(new Fact.ToolLost(callId, 1, new Problem("Timeout", "the worker is gone")));
    }

    public Tale answers(String callId, String words) {
        return then(new Fact.HumanAnswered(Optional.empty(), Optional.of(callId), words, Optional.empty()));
    }

    public Tale fails(String words) {
        return then(new Fact.ModelFailed(now().counters().steps(), new Problem("Overloaded", words)));
    }

    public Conversation now() {
        return moments.get(moments.size() - 1).state();
    }

    public int facts() {
        return now().counters().facts();
    }

    public List<Moment> moments() {
        return moments;
    }

    public Timeline timeline() {
        return new Timeline("t1", "run-1", moments, now(), Optional.empty(), Optional.empty(), 1_000, false);
    }

    public Timeline closed() {
        return new Timeline(
                "t1",
                "run-1",
                moments,
                now(),
                Optional.empty(),
                Optional.of(new Ending(Ending.Kind.COMPLETED, Optional.empty())),
                1_000,
                false);
    }
}
