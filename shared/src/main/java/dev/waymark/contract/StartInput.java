package dev.waymark.contract;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.databind.JsonNode;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.Fact;
import dev.waymark.conversation.Parent;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What a run starts with: an agent's name and perhaps a first message, or the state of the run before.
 *
 * <p>{@code say} is the payload of the signal of that name. {@code rules} is the newest rule version that the starter knows; without one, the first. {@code once} closes the
 * thread when its first turn ends. {@code parent} is there for a subagent's thread. {@code limits} are recorded here, since a worker's own would change replays.
 */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_ABSENT)
public record StartInput(
        @JsonProperty("rules") int rules,
        @JsonProperty("agent") String agent,
        @JsonProperty("once") boolean once,
        @JsonProperty("maxIterations") Optional<Integer> maxIterations,
        @JsonProperty("say") Optional<JsonNode> say,
        @JsonProperty("limits") Optional<RunLimits> limits,
        @JsonProperty("carried") Optional<String> carried,
        @JsonProperty("parent") Optional<Parent> parent) {
    @JsonCreator
    public StartInput {
        rules = rules == 0 ? 1 : rules;
        agent = agent == null ? "" : agent;
        maxIterations = maxIterations == null ? Optional.empty() : maxIterations;
        say = say == null ? Optional.empty() : say.filter(body -> !body.isNull());
        limits = limits == null ? Optional.empty() : limits;
        carried = carried == null ? Optional.empty() : carried;
        parent = parent == null ? Optional.empty() : parent;
    }

    /** A new thread of this agent. */
    public static StartInput of(String agent) {
        return new StartInput(
                Conversation.RULES,
                agent,
                false,
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty());
    }

    /** A thread that carries out a call of another thread's. */
    public static StartInput ofSubagent(String agent, String task, Parent parent, Optional<RunLimits> limits) {
        return new StartInput(
                Conversation.RULES,
                agent,
                true,
                Optional.empty(),
                Optional.of(Wire.MAPPER.valueToTree(Map.of("content", task))),
                limits,
                Optional.empty(),
                Optional.of(parent));
    }

    public StartInput closingAfterOneTurn() {
        return new StartInput(rules, agent, true, maxIterations, say, limits, carried, parent);
    }

    public StartInput withMaxIterations(Optional<Integer> most) {
        return new StartInput(rules, agent, once, most, say, limits, carried, parent);
    }

    public StartInput saying(Say message) {
        return new StartInput(
                rules,
                agent,
                once,
                maxIterations,
                Optional.of(Wire.MAPPER.valueToTree(message)),
                limits,
                carried,
                parent);
    }

    public StartInput withLimits(RunLimits own) {
        return new StartInput(rules, agent, once, maxIterations, say, Optional.of(own), carried, parent);
    }

    /** The input of the run that goes on with this packed state. */
    public StartInput carrying(String packed) {
        return new StartInput(
                rules, agent, once, Optional.empty(), Optional.empty(), limits, Optional.of(packed), parent);
    }

    /** The first facts of a thread that begins here. */
    public List<Fact> facts() {
        Fact started = new Fact.RunStarted(rules, agent, once, maxIterations, parent);
        return say.map(body -> List.of(started, Inbox.read(Names.SAY, body))).orElseGet(() -> List.of(started));
    }
}
