package dev.waymark.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.contract.PayloadJson;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.fact.AnnouncementFact;
import dev.waymark.conversation.fact.Fact;
import dev.waymark.conversation.fact.ModelFact;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.fact.ThreadFact;
import dev.waymark.conversation.fact.ToolFact;
import dev.waymark.conversation.rule.Rules;
import dev.waymark.conversation.state.Turn;
import dev.waymark.conversation.value.CallVerdict;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** The simulation notices drivers and rules that are wrong. */
class SimulationFaultsTest {
    /** The number of simulations within which a wrong driver or rule must be noticed. */
    private static final int FAULTY = 3_000;

    @ParameterizedTest
    @EnumSource(value = Simulation.Fault.class, mode = EnumSource.Mode.EXCLUDE, names = "NONE")
    void simulation_faultyDriver_isNoticed(Simulation.Fault fault) {
        assertThat(violations(Rules::apply, fault).findAny()).isPresent();
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("brokenRules")
    @Tag("full")
    void simulation_brokenRule_isNoticed(String name, Core broken, String violation) {
        Set<String> noticed = new TreeSet<>();
        assertThat(violations(broken, Simulation.Fault.NONE)
                        .peek(noticed::add)
                        .anyMatch(what -> what.contains(violation)))
                .as("%s", noticed)
                .isTrue();
    }

    static Stream<Arguments> brokenRules() {
        return Stream.of(
                broken(PersonFact.Stopped.class, "stop drops the queue", "touched the queue", (before, fact, after) -> {
                    if (fact instanceof PersonFact.Stopped) {
                        after.putArray("queue");
                    }
                }),
                broken(
                        ToolFact.ToolFinished.class,
                        after -> after.turn().status() == Turn.Status.BUDGET,
                        "a budget that is spent is not a limit",
                        "beyond the budget",
                        (before, fact, after) -> {
                            ObjectNode turn = (ObjectNode) after.get("turn");
                            if (turn.get("status").asText().equals("budget")) {
                                turn.put("status", "running");
                            }
                        }),
                broken(
                        PersonFact.UserSpoke.class,
                        "a message is lost while a turn runs",
                        "lost, doubled or shuffled",
                        (before, fact, after) -> {
                            if (fact instanceof PersonFact.UserSpoke
                                    && before.turn().isRunning()
                                    && after.withArray("queue").size() > 1) {
                                after.withArray("queue").remove(0);
                            }
                        }),
                broken(
                        ModelFact.ModelCalled.class,
                        "results in another order",
                        "order of the calls",
                        (before, fact, after) -> {
                            if (fact instanceof ModelFact.ModelCalled
                                    && before.batch().size() > 1) {
                                ArrayNode results = (ArrayNode) after.at("/transcript/entries")
                                        .get(before.transcript().count())
                                        .at("/message/content");
                                results.add(results.remove(0));
                            }
                        }),
                broken(
                        ToolFact.ToolInterrupted.class,
                        "an interrupt loses its siblings' results",
                        "lost or changed",
                        (before, fact, after) -> {
                            if (fact instanceof ToolFact.ToolInterrupted
                                    && !before.calls().equals(StateEditor.calls(after))) {
                                for (String id : before.batch()) {
                                    ObjectNode call =
                                            (ObjectNode) after.get("calls").get(id);
                                    if (call.has("result")) {
                                        call.put("result", "");
                                    }
                                }
                            }
                        }),
                broken(
                        ToolFact.VerdictGiven.class,
                        "a call runs that the rules deny",
                        "that the rules deny",
                        (before, fact, after) -> {
                            if (fact instanceof ToolFact.VerdictGiven given
                                    && given.verdict().then() == CallVerdict.Then.DENY
                                    && before.awaitsVerdict(given.callId())) {
                                verdict(after, given.callId(), "allow");
                            }
                        }),
                broken(
                        AnnouncementFact.class,
                        "what is no longer true is forgotten while a worker may still send it",
                        "two things of one subject at a time",
                        (before, fact, after) -> {
                            if (fact instanceof AnnouncementFact.AnnouncementBegun begun) {
                                for (JsonNode open : after.at("/announcements/open")) {
                                    if (open.get("number").asInt() == begun.number()) {
                                        ((ObjectNode) open).remove("progress");
                                    }
                                }
                            }
                        }),
                broken(
                        PersonFact.GrantRevoked.class,
                        "a revoked grant goes on",
                        "after its grant was revoked",
                        (before, fact, after) -> {
                            if (fact instanceof PersonFact.GrantRevoked && after.has("grants")) {
                                after.get("grants").get("list").forEach(grant -> ((ObjectNode) grant).remove("ended"));
                            }
                        }),
                broken(
                        ToolFact.ToolFinished.class,
                        after -> after.grants().last() > 0,
                        "a grant is not counted down",
                        "once too often",
                        (before, fact, after) ->
                                after.get("grants").get("list").forEach(grant -> ((ObjectNode) grant).remove("used"))),
                broken(
                        ToolFact.ToolNotStarted.class,
                        "a decision about another tool counts",
                        "what runs is not what was approved",
                        (before, fact, after) -> {
                            if (fact instanceof ToolFact.ToolNotStarted changed
                                    && changed.definition().isPresent()
                                    && StateEditor.calls(after)
                                            .get(changed.callId())
                                            .filter(call -> call.status() == Call.Status.AWAITING)
                                            .isPresent()) {
                                ObjectNode call =
                                        (ObjectNode) after.get("calls").get(changed.callId());
                                call.put("status", "issued");
                                call.putObject("approval").put("approved", true).put("at", "2026-05-01T09:00:00Z");
                            }
                        }),
                broken(
                        PersonFact.ApprovalDecided.class,
                        "an edited call keeps its verdict",
                        "without a verdict",
                        (before, fact, after) -> after.get("calls").fieldNames().forEachRemaining(id -> {
                            ObjectNode call = (ObjectNode) after.get("calls").get(id);
                            if (call.get("status").asText().equals("issued")
                                    && call.path("approval").path("edited").asBoolean()
                                    && !call.has("verdict")
                                    && before.calls()
                                            .get(id)
                                            .flatMap(Call::verdict)
                                            .isPresent()) {
                                call.putObject("verdict").put("then", "allow");
                            }
                        })),
                broken(
                        ToolFact.ToolLost.class,
                        "a lost tool stays open",
                        "no result will come",
                        (before, fact, after) -> {
                            if (fact instanceof ToolFact.ToolLost lost
                                    && !before.calls().equals(StateEditor.calls(after))) {
                                ((ObjectNode) after.get("calls").get(lost.callId())).put("status", "dispatched");
                            }
                        }),
                broken(
                        ModelFact.ModelFailed.class,
                        "a late failure is taken for the next call's",
                        "a stale model-failed",
                        (before, fact, after) -> {
                            if (fact instanceof ModelFact.ModelFailed && before.modelCalled()) {
                                after.put("modelCalled", false);
                            }
                        }),
                broken(
                        ToolFact.ToolLost.class,
                        "a lost call that was claimed runs again",
                        "knows nothing of",
                        (before, fact, after) -> {
                            if (fact instanceof ToolFact.ToolLost lost && isClaimed(before, lost.callId())) {
                                issue(after, lost.callId());
                            }
                        }),
                broken(
                        ToolFact.ToolNotStarted.class,
                        "another execution's word is taken",
                        "may still be running",
                        (before, fact, after) -> {
                            if (fact instanceof ToolFact.ToolNotStarted word && isClaimed(before, word.callId())) {
                                issue(after, word.callId());
                            }
                        }),
                broken(
                        ToolFact.ToolClaimed.class,
                        "a restored claim is forgotten",
                        "knows nothing of",
                        (before, fact, after) -> {
                            if (fact instanceof ToolFact.ToolClaimed claim
                                    && claim.restored()
                                    && !isDispatched(before, claim.callId(), claim.dispatch())) {
                                after.set("calls", PayloadJson.MAPPER.valueToTree(before.calls()));
                                after.remove("effects");
                            }
                        }),
                broken(
                        ToolFact.ToolLost.class,
                        "a check does not wait for the fence",
                        "too early",
                        (before, fact, after) -> {
                            if (fact instanceof ToolFact.ToolLost) {
                                after.get("calls").forEach(call -> {
                                    if (call.get("status").asText().equals("unknown")) {
                                        ((ObjectNode) call)
                                                .put("status", "doubted")
                                                .remove("wakeAt");
                                    }
                                });
                            }
                        }),
                broken(
                        ModelFact.ModelReplied.class,
                        "nobody has to approve",
                        "told of other requests than wait",
                        (before, fact, after) -> {
                            for (JsonNode call : after.get("calls")) {
                                if (call.get("status").asText().equals("awaiting")) {
                                    ((ObjectNode) call).put("status", "issued").remove("wakeAt");
                                }
                            }
                        }),
                broken(
                        PersonFact.ApprovalDecided.class,
                        "a denied call runs",
                        "open after their turn",
                        (before, fact, after) -> {
                            if (fact instanceof PersonFact.ApprovalDecided decided && !decided.approved()) {
                                before.waitingCalls().forEach(waiting -> {
                                    ObjectNode call =
                                            (ObjectNode) after.get("calls").get(waiting.id());
                                    if (call.get("status").asText().equals("denied")) {
                                        call.put("status", "issued").remove("result");
                                    }
                                });
                            }
                        }),
                broken(
                        PersonFact.ApprovalDecided.class,
                        "what the model wanted runs, and not what was approved",
                        "not what was approved",
                        (before, fact, after) -> {
                            if (fact instanceof PersonFact.ApprovalDecided decided
                                    && decided.args().isPresent()) {
                                before.waitingCalls()
                                        .forEach(call -> ((ObjectNode)
                                                        after.get("calls").get(call.id()))
                                                .set("args", PayloadJson.MAPPER.valueToTree(call.args())));
                            }
                        }),
                broken(
                        ToolFact.ToolLost.class,
                        "an unknown outcome counts as known",
                        "key of another",
                        (before, fact, after) -> {
                            for (Call call : before.openCalls()) {
                                JsonNode later = after.get("calls").get(call.id());
                                if (call.claim().isPresent()
                                        && later.get("status").asText().equals("lost")) {
                                    after.withObjectProperty("effects")
                                            .withObjectProperty(call.tool() + ":" + call.argsDigest())
                                            .put("executions", call.repeat() + 1);
                                }
                            }
                        }),
                broken(
                        PersonFact.Stopped.class,
                        "a cancelled call says nothing of its claim",
                        "it took effect",
                        (before, fact, after) -> {
                            if (fact instanceof PersonFact.Stopped) {
                                before.openCalls()
                                        .forEach(call -> ((ObjectNode)
                                                        after.get("calls").get(call.id()))
                                                .put("result", "Cancelled."));
                            }
                        }),
                broken(
                        ModelFact.Summarised.class,
                        "a summary takes a call and leaves its result",
                        "a summary",
                        (before, fact, after) -> {
                            JsonNode entries = after.get("transcript").get("entries");
                            if (fact instanceof ModelFact.Summarised && entries.size() > 1) {
                                JsonNode eldest = entries.get(1).get("message").get("content");
                                if (eldest.size() > 0
                                        && "tool_use"
                                                .equals(eldest.get(eldest.size() - 1)
                                                        .get("type")
                                                        .asText())) {
                                    ((ArrayNode) entries).remove(1);
                                }
                            }
                        }),
                broken(PersonFact.Cleared.class, "a clear counts messages anew", "went back", (before, fact, after) -> {
                    if (fact instanceof PersonFact.Cleared) {
                        ((ObjectNode) after.get("counters")).put("messages", 0);
                    }
                }),
                broken(
                        PersonFact.UserSpoke.class,
                        "ids are forgotten at a clear",
                        "not remembered",
                        (before, fact, after) -> {
                            if (fact instanceof PersonFact.UserSpoke) {
                                after.putObject("seen").putObject("young");
                                after.withObject("/seen").putObject("old");
                            }
                        }),
                broken(
                        ThreadFact.AgentRefused.class,
                        "a failed agent leaves its turn running",
                        "no agent will come",
                        (before, fact, after) -> {
                            if (fact instanceof ThreadFact.AgentRefused) {
                                ((ObjectNode) after.get("turn")).put("status", "running");
                                after.put("life", "open");
                            }
                        }),
                broken(
                        ModelFact.Summarised.class,
                        "a summary forgets which call ids it dropped",
                        "a call id is used twice",
                        (before, fact, after) -> after.remove("dropped")),
                broken(
                        ToolFact.ToolFinished.class,
                        after -> !after.callBook().longResults().isEmpty(),
                        "a whole result is lost",
                        "is another one",
                        (before, fact, after) -> {
                            ArrayNode whole = (ArrayNode) after.get("longResults");
                            ObjectNode newest = (ObjectNode) whole.get(whole.size() - 1);
                            newest.put("text", "x".repeat(newest.get("bytes").asInt()));
                        }),
                broken(
                        ModelFact.ModelReplied.class,
                        after -> !after.callBook().longResults().isEmpty(),
                        "a reply gives up whole results",
                        "given up",
                        (before, fact, after) -> ((ArrayNode) after.get("longResults")).remove(0)),
                broken(
                        ModelFact.ModelCalled.class,
                        after -> after.dialogue().untrusted().isPresent(),
                        "a model call forgets untrusted words",
                        "untrusted words are not known",
                        (before, fact, after) -> after.remove("untrusted")),
                broken(
                        ModelFact.ModelCalled.class,
                        after -> after.dialogue().untrusted().isEmpty(),
                        "a model call reads untrusted words in anything",
                        "untrusted words that nobody said",
                        (before, fact, after) ->
                                after.putObject("untrusted").putObject("ever").put("by", "conversation")),
                broken(
                        ModelFact.Summarised.class,
                        "a summary drops all calls",
                        "a summary dropped",
                        (before, fact, after) -> {
                            if (after.at("/transcript/entries").size()
                                    < before.transcript().count()) {
                                after.putObject("calls");
                            }
                        }),
                broken(
                        ThreadFact.AgentResolved.class,
                        "a call of a file loses its mark",
                        "that nobody has decided",
                        (before, fact, after) -> before.openCalls().stream()
                                .filter(call -> call.fromFile().isPresent())
                                .filter(call -> after.get("calls")
                                        .get(call.id())
                                        .get("status")
                                        .asText()
                                        .equals("awaiting"))
                                .forEach(call -> {
                                    issue(after, call.id());
                                    ((ObjectNode) after.get("calls").get(call.id())).remove("fromFile");
                                })),
                broken(
                        ModelFact.ModelCalled.class,
                        "a commit skips what cancelled calls came to",
                        "refuse the transcript",
                        (before, fact, after) -> {
                            if (fact instanceof ModelFact.ModelCalled
                                    && !before.batch().isEmpty()) {
                                ((ArrayNode) after.at("/transcript/entries"))
                                        .remove(before.transcript().count());
                            }
                        }));
    }

    private static boolean isClaimed(Conversation state, String callId) {
        return state.batchCalls().stream()
                .anyMatch(call -> call.id().equals(callId) && call.status() == Call.Status.CLAIMED);
    }

    private static boolean isDispatched(Conversation state, String callId, int dispatch) {
        return state.batchCalls().stream()
                .anyMatch(call -> call.id().equals(callId)
                        && call.status() == Call.Status.DISPATCHED
                        && call.dispatches() == dispatch);
    }

    private static void issue(ObjectNode state, String callId) {
        ObjectNode call = (ObjectNode) state.get("calls").get(callId);
        call.put("status", "issued").remove(List.of("claim", "result", "wakeAt"));
    }

    private interface Change {
        void make(Conversation before, Fact fact, ObjectNode after);
    }

    private static void verdict(ObjectNode state, String callId, String then) {
        ObjectNode call = (ObjectNode) state.get("calls").get(callId);
        call.put("status", "issued");
        call.remove("result");
        call.putObject("verdict").put("then", then);
    }

    private static Arguments broken(Class<? extends Fact> at, String name, String violation, Change change) {
        return broken(at, after -> true, name, violation, change);
    }

    /** @param when the states that are changed, because most are not worth the time */
    private static Arguments broken(
            Class<? extends Fact> at, Predicate<Conversation> when, String name, String violation, Change change) {
        Core core = (before, fact, time) -> {
            Conversation after = Rules.apply(before, fact, time);
            return at.isInstance(fact) && when.test(after)
                    ? StateEditor.edit(after, tree -> change.make(before, fact, tree))
                    : after;
        };
        return Arguments.of(name, core, violation);
    }

    /** The messages of the violations that the seeds notice. One mistake may cause several different violations. */
    private static Stream<String> violations(Core core, Simulation.Fault fault) {
        return LongStream.range(0, FAULTY)
                .flatMap(seed ->
                        seed % 5 > 0 ? LongStream.of(seed) : LongStream.of(seed, Simulation.FILE_SEEDS + seed / 5))
                .mapToObj(seed -> {
                    try {
                        new Simulation(seed, core, fault, new Coverage()).run();
                        return Optional.<String>empty();
                    } catch (Violation violation) {
                        return Optional.of(String.valueOf(violation.getMessage()));
                    }
                })
                .flatMap(Optional::stream);
    }
}
