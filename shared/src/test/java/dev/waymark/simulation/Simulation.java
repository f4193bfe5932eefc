package dev.waymark.simulation;

import dev.waymark.contract.Carried;
import dev.waymark.contract.StateDigest;
import dev.waymark.contract.Wire;
import dev.waymark.conversation.Call;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.Fact;
import dev.waymark.conversation.Json;
import dev.waymark.conversation.Message;
import dev.waymark.conversation.Part;
import dev.waymark.conversation.Problem;
import dev.waymark.conversation.Reply;
import dev.waymark.conversation.Step;
import dev.waymark.conversation.Terms;
import dev.waymark.conversation.Usage;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;

/**
 * One thread's life, decided by a seed. It holds a state, carries out what the state decides as activities that end when
 * they like, lets people interfere, and moves to a new run where it may; after every fact, {@link Ledger} looks.
 */
final class Simulation {
    /** Ways in which a driver can be wrong, to prove that it would be noticed. */
    enum Fault {
        NONE,
        DISPATCH_UNRECORDED,
        MODEL_CALL_UNRECORDED,
        RESULT_DROPPED,
        RESULT_OF_ANOTHER_STEP,
        FACT_UNRECORDED,
        MODEL_CALLED_TOO_EARLY,
        QUEUE_LOST_IN_TRANSIT,
        CALL_LOST_IN_TRANSIT
    }

    private static final Terms TERMS = terms();
    private static final String[] TOOLS = {"add", "add", "lookup", "ask_user", "ask_user", "missing"};
    private static final String[] CALL_IDS = {"tu_1", "tu_2", "tu_3", "tu_1~2", "call", "", "漢", "a", "b", "c"};

    private final Random random;
    private final Core core;
    private final Fault fault;
    private final Coverage coverage;
    private final Ledger ledger;
    private final boolean thorough;

    private final List<Fact> recorded = new ArrayList<>();
    private final List<Instant> times = new ArrayList<>();
    private final List<Conversation> states = new ArrayList<>();
    private final List<Flight> flights = new ArrayList<>();
    private final Set<String> begun = new HashSet<>();
    private final List<String> sentIds = new ArrayList<>();

    private Instant at = Instant.parse("2026-05-01T09:00:00Z");
    private Conversation state;

    private int messages;
    private boolean closed;
    private boolean quiet;
    private boolean agentLanded;

    Simulation(long seed, Core core, Fault fault, Coverage coverage) {
        this.random = new Random(seed);
        this.core = core;
        this.fault = fault;
        this.coverage = coverage;
        this.ledger = new Ledger(coverage);
        this.thorough = seed % 20 == 0;
        Optional<Integer> maxIterations = chance(3) ? Optional.of(1 + random.nextInt(4)) : Optional.empty();
        Fact.RunStarted started = new Fact.RunStarted(Conversation.RULES, "helper", chance(6), maxIterations);
        recorded.add(started);
        times.add(at);
        state = Conversation.start(started, at);
        states.add(state);
    }

    /** An activity under way. */
    private record Flight(String kind, int step, String callId, int dispatch) {}

    void run() {
        int tasks = 5 + random.nextInt(30);
        if (!chance(5)) {
            apply(message());
        }
        for (int task = 0; task < tasks && !closed; task++) {
            int arrivals = random.nextInt(3);
            for (int i = 0; i < arrivals; i++) {
                arrive();
            }
            work();
        }
        settle();
        refold();
    }

    /** The facts so far, for whoever looks for the reason of a violation. */
    String story() {
        StringBuilder story = new StringBuilder();
        recorded.forEach(fact -> story.append("  ").append(fact).append('\n'));
        return story.toString();
    }

    // ---- the driver

    /** What the workflow's main loop does in one go: move on if it can, then carry out what is decided. */
    private void work() {
        for (int round = 0; !closed; round++) {
            Violation.unless(round < 50, "the driver goes round in circles");
            moveOnPerhaps();
            List<Step> steps = state.decide();
            boolean progress = false;
            for (Step step : steps) {
                progress |= step.match(new Driver());
            }
            if (!progress) {
                break;
            }
        }
        notStuck();
    }

    private final class Driver implements Step.Cases<Boolean> {
        @Override
        public Boolean resolveAgent(Step.ResolveAgent step) {
            begin("agent", new Flight("agent", 0, "", 0));
            apply(new Fact.AgentRequested());
            return true;
        }

        @Override
        public Boolean callModel(Step.CallModel step) {
            begin("model " + step.step(), new Flight("model", step.step(), "", 0));
            if (fault != Fault.MODEL_CALL_UNRECORDED) {
                apply(new Fact.ModelCalled(step.step()));
            }
            return true;
        }

        @Override
        public Boolean runTool(Step.RunTool step) {
            String callId = step.call().id();
            begin("tool " + callId + " " + step.dispatch(), new Flight("tool", 0, callId, step.dispatch()));
            if (fault != Fault.DISPATCH_UNRECORDED) {
                apply(new Fact.ToolDispatched(callId, step.dispatch()));
            }
            if (fault == Fault.MODEL_CALLED_TOO_EARLY) {
                apply(new Fact.ModelCalled(state.counters().steps() + 1));
            }
            return true;
        }

        @Override
        public Boolean verifyTool(Step.VerifyTool step) {
            throw new Violation("no tool of this simulation can be verified");
        }

        @Override
        public Boolean wakeAt(Step.WakeAt step) {
            throw new Violation("nothing in this simulation waits for a time");
        }

        @Override
        public Boolean close(Step.Close step) {
            closed = flights.isEmpty();
            if (closed) {
                coverage.count(step.cancelled() ? "closed by cancel" : "closed");
            }
            return false;
        }

        private void begin(String what, Flight flight) {
            Violation.unless(begun.add(what), "begun twice: " + what);
            flights.add(flight);
        }
    }

    /** Whatever the state waits for is really under way; if it waits for nothing, something is decided. */
    private void notStuck() {
        if (closed || state.life() == Conversation.Life.CANCELLED) {
            return;
        }
        boolean waits = false;
        if (state.agentRequested() && !agentLanded) {
            waits = true;
            Violation.unless(flights.contains(new Flight("agent", 0, "", 0)), "stuck: no agent will come");
        }
        if (state.modelCalled()) {
            waits = true;
            Violation.unless(
                    flights.contains(new Flight("model", state.counters().steps(), "", 0)),
                    "stuck: no reply will come");
        }
        for (Call call : state.batchCalls()) {
            if (call.status() == Call.Status.DISPATCHED) {
                waits = true;
                Violation.unless(
                        flights.contains(new Flight("tool", 0, call.id(), call.dispatches())),
                        "stuck: no result will come");
            }
        }
        boolean shouldGoOn = state.turn().isRunning() && !state.isInterrupted() && !waits;
        Violation.unless(!shouldGoOn || !state.decide().isEmpty(), "stuck: a turn runs, and nothing is decided");
        Violation.unless(!waits || !state.isBetweenSteps(), "between steps, yet waiting");
    }

    private void moveOnPerhaps() {
        if (!flights.isEmpty() || !state.isBetweenSteps() || !chance(quiet ? 20 : 8)) {
            return;
        }
        if (chance(20)) {
            apply(new Fact.LimitReached(new Problem(Problem.TOO_LARGE, "too large to carry")));
            coverage.count("limits reached");
            return;
        }
        Conversation before = state;
        Conversation sent = state;
        if (fault == Fault.QUEUE_LOST_IN_TRANSIT) {
            sent = Doctor.edit(sent, tree -> tree.putArray("queue"));
        }
        if (fault == Fault.CALL_LOST_IN_TRANSIT) {
            sent = Doctor.edit(sent, tree -> tree.putArray("batch"));
        }
        state = Carried.unpack(new Carried(sent, Optional.empty()).pack()).state();
        Violation.unless(state.equals(before), "moving to a new run changed the state");
        if (thorough) {
            Violation.unless(StateDigest.of(state).equals(StateDigest.of(before)), "moving changed the state's digest");
        }
        coverage.count("continued as new");
        if (!state.batch().isEmpty()) {
            coverage.count("continued as new within a batch");
        }
    }

    private void apply(Fact fact) {
        at = at.plusMillis(random.nextInt(3));
        Conversation before = state;
        state = core.apply(state, fact, at);
        if (fault != Fault.FACT_UNRECORDED || state.counters().facts() != 7) {
            recorded.add(fact);
            times.add(at);
            states.add(state);
        }
        coverage.count("fact " + fact.type());
        ledger.check(before, fact, state);
        if (thorough) {
            roundTrip();
        }
    }

    private void roundTrip() {
        try {
            byte[] json = Wire.MAPPER.writeValueAsBytes(state);
            Violation.unless(Wire.MAPPER.readValue(json, Conversation.class).equals(state), "JSON changes the state");
        } catch (IOException e) {
            throw new Violation("JSON can't hold the state: " + e.getMessage());
        }
    }

    /** Another reader of the facts, one that never moved to a new run, sees the same state after each of them. */
    private void refold() {
        Conversation folded = Conversation.start((Fact.RunStarted) recorded.get(0), times.get(0));
        for (int i = 1; i < recorded.size(); i++) {
            folded = core.apply(folded, recorded.get(i), times.get(i));
            Violation.unless(folded.equals(states.get(i)), "a reader of the same facts sees another state");
        }
        Violation.unless(folded.equals(state), "a reader of the same facts ends with another state");
    }

    /** Lets everything that is under way end, answers what is asked, and expects the thread to come to rest. */
    private void settle() {
        quiet = true;
        for (int i = 0; i < 500 && !closed; i++) {
            work();
            if (!flights.isEmpty()) {
                land();
            } else if (state.isInterrupted()) {
                apply(answer(Optional.of(state.questions().get(0).id())));
            } else if (!closed) {
                Violation.unless(state.isSettled(), "at rest, and yet not settled");
                return;
            }
        }
        Violation.unless(closed, "the thread never comes to rest");
    }

    // ---- the world

    private void arrive() {
        if (!flights.isEmpty() && !chance(3)) {
            land();
            return;
        }
        int kind = random.nextInt(100);
        if (kind < 34) {
            apply(message());
        } else if (kind < 58) {
            apply(state.questions().isEmpty() && !chance(6) ? message() : answer(someCallId()));
        } else if (kind < 68) {
            apply(new Fact.Stopped(someone()));
        } else if (kind < 71) {
            apply(new Fact.Cleared(chance(2), someone()));
        } else if (kind < 77) {
            apply(replacement());
        } else if (kind < 83) {
            apply(new Fact.UserSpoke(Optional.empty(), Optional.empty(), Optional.empty(), chance(2)));
        } else if (kind < 90) {
            apply(new Fact.BudgetRaised(chance(5) ? Optional.empty() : Optional.of(1 + random.nextInt(12)), someone()));
        } else if (kind < 93) {
            apply(new Fact.MessageIgnored("nonsense", new Problem(Problem.BAD_INPUT, "there is no such signal")));
        } else if (kind < 95) {
            apply(new Fact.ApprovalDecided(
                    chance(2),
                    Optional.empty(),
                    someCallId(),
                    Optional.empty(),
                    Optional.empty(),
                    someone(),
                    Optional.empty()));
        } else if (kind < 97) {
            apply(new Fact.CloseRequested(someone()));
        } else if (chance(2)) {
            apply(new Fact.CancelRequested());
        }
    }

    /** Some activity ends, somehow, however long nobody has waited for it. */
    private void land() {
        Flight flight = flights.remove(random.nextInt(flights.size()));
        if (fault == Fault.RESULT_DROPPED && chance(4)) {
            return;
        }
        int off = fault == Fault.RESULT_OF_ANOTHER_STEP ? 1 : 0;
        switch (flight.kind()) {
            case "agent" -> {
                agentLanded = true;
                apply(
                        chance(25)
                                ? new Fact.AgentRefused(new Problem(Problem.NOT_FOUND, "no such agent"))
                                : new Fact.AgentResolved(TERMS));
            }
            case "model" ->
                apply(
                        chance(10)
                                ? new Fact.ModelFailed(flight.step() + off, new Problem("Provider", "overloaded"))
                                : new Fact.ModelReplied(flight.step() + off, reply()));
            default -> apply(toolEnd(flight, off));
        }
    }

    private Fact toolEnd(Flight flight, int off) {
        int dispatch = flight.dispatch() + off;
        return switch (random.nextInt(8)) {
            case 0 -> new Fact.ToolLost(flight.callId(), dispatch, new Problem("Timeout", "the worker was lost"));
            case 1, 2 -> new Fact.ToolInterrupted(flight.callId(), dispatch, "Which day?");
            case 3 -> new Fact.ToolFinished(flight.callId(), dispatch, "Tool error: no", true);
            default -> new Fact.ToolFinished(flight.callId(), dispatch, "result-" + random.nextInt(1000), false);
        };
    }

    private Reply reply() {
        List<Part> parts = new ArrayList<>();
        if (chance(8)) {
            parts.add(new Part.Reasoning("hm", Json.of(Map.of("signature", "é😀"))));
        }
        if (!chance(6)) {
            parts.add(new Part.Text("reply-" + random.nextInt(1000)));
        }
        int calls = quiet ? 0 : Math.max(0, random.nextInt(7) - 2);
        for (int i = 0; i < calls; i++) {
            String tool = TOOLS[random.nextInt(TOOLS.length)];
            parts.add(new Part.ToolUse(CALL_IDS[random.nextInt(CALL_IDS.length)], tool, args(tool)));
        }
        coverage.count("replies with " + calls + " calls");
        return new Reply(parts, new Usage(random.nextInt(100), random.nextInt(100)), "end_turn");
    }

    private Json args(String tool) {
        if (tool.equals("ask_user") && !chance(8)) {
            return Json.of(Map.of("question", "question-" + random.nextInt(1000)));
        }
        return switch (random.nextInt(6)) {
            case 0 -> Json.of(null);
            case 1 -> Json.of(Map.of("x", -0.0, "y", 1e-7, "z", new java.math.BigInteger("123456789012345678901")));
            case 2 -> Json.of(List.of(List.of(), Map.of(), "漢\u0000", true));
            default -> Json.of(Map.of("a", random.nextInt(9)));
        };
    }

    private Fact.UserSpoke message() {
        return new Fact.UserSpoke(someId(), Optional.empty(), Optional.of(Message.user(nextWords())), false);
    }

    /** None, a new one, or one that was sent before. */
    private Optional<String> someId() {
        if (chance(2)) {
            return Optional.empty();
        }
        boolean again = chance(5) && !sentIds.isEmpty();
        sentIds.add(again ? sentIds.get(random.nextInt(sentIds.size())) : "id-" + sentIds.size());
        return Optional.of(sentIds.get(sentIds.size() - 1));
    }

    private String nextWords() {
        messages++;
        return Ledger.MESSAGE + messages;
    }

    private Fact.UserSpoke replacement() {
        List<Message> list = new ArrayList<>();
        int kind = random.nextInt(5);
        if (kind > 0) {
            list.add(Message.user("from elsewhere"));
            String id = CALL_IDS[random.nextInt(4)];
            list.add(Message.assistant(new Part.ToolUse(id, "add", Json.EMPTY_OBJECT)));
            if (kind > 1) {
                list.add(Message.results(List.of(new Part.ToolResult(id, "3", false))));
            }
            if (kind > 2) {
                list.add(Message.assistant(new Part.Text("3")));
            }
        }
        Optional<Message> content = chance(2) ? Optional.of(Message.user(nextWords())) : Optional.empty();
        return new Fact.UserSpoke(Optional.empty(), Optional.of(list), content, false);
    }

    private Fact.HumanAnswered answer(Optional<String> callId) {
        return new Fact.HumanAnswered(
                quiet ? Optional.empty() : someId(), callId, "answer-" + random.nextInt(1000), someone());
    }

    /** None, one that asks, or any at all. */
    private Optional<String> someCallId() {
        List<Call> questions = state.questions();
        if (chance(3)) {
            return Optional.empty();
        }
        return Optional.of(
                !questions.isEmpty() && !chance(5)
                        ? questions.get(random.nextInt(questions.size())).id()
                        : CALL_IDS[random.nextInt(CALL_IDS.length)]);
    }

    private Optional<String> someone() {
        return chance(2) ? Optional.of("ann") : Optional.empty();
    }

    private boolean chance(int oneIn) {
        return random.nextInt(oneIn) == 0;
    }

    private static Terms terms() {
        Map<String, Terms.ToolKind> tools = new LinkedHashMap<>();
        tools.put("add", Terms.ToolKind.ACTIVITY);
        tools.put("lookup", Terms.ToolKind.ACTIVITY);
        tools.put("ask_user", Terms.ToolKind.QUESTION);
        return new Terms("helper", 6, tools);
    }
}
