package dev.waymark.simulation;

import dev.waymark.contract.CarriedState;
import dev.waymark.contract.PayloadJson;
import dev.waymark.contract.StateDigest;
import dev.waymark.contract.work.ModelResult;
import dev.waymark.contract.work.ToolOutcome;
import dev.waymark.contract.work.Work;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.Step;
import dev.waymark.conversation.call.AgentPolicy;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.call.Grant;
import dev.waymark.conversation.call.LongResult;
import dev.waymark.conversation.call.Parent;
import dev.waymark.conversation.call.SubagentProgress;
import dev.waymark.conversation.call.Suspension;
import dev.waymark.conversation.decision.CallSettlement;
import dev.waymark.conversation.decision.FileCalls;
import dev.waymark.conversation.decision.PendingItem;
import dev.waymark.conversation.fact.AnnouncementFact;
import dev.waymark.conversation.fact.Fact;
import dev.waymark.conversation.fact.ModelFact;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.fact.SubagentFact;
import dev.waymark.conversation.fact.ThreadFact;
import dev.waymark.conversation.fact.ToolFact;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.policy.AnnounceRule;
import dev.waymark.conversation.policy.AnnouncedEvent;
import dev.waymark.conversation.policy.ResultRule;
import dev.waymark.conversation.policy.SummaryRule;
import dev.waymark.conversation.policy.UntrustedRule;
import dev.waymark.conversation.policy.WaitRule;
import dev.waymark.conversation.rule.Restoration;
import dev.waymark.conversation.rule.Rules;
import dev.waymark.conversation.state.Announcement;
import dev.waymark.conversation.state.ThreadIdentity;
import dev.waymark.conversation.state.Turn;
import dev.waymark.conversation.value.Budget;
import dev.waymark.conversation.value.CallVerdict;
import dev.waymark.conversation.value.GrantTerms;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Problem;
import dev.waymark.conversation.value.ProblemType;
import dev.waymark.conversation.value.Spent;
import dev.waymark.conversation.value.UntrustedWords;
import dev.waymark.conversation.value.Usage;
import dev.waymark.conversation.value.Usd;
import dev.waymark.conversation.value.WordSource;
import java.io.IOException;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;

/**
 * Simulates one thread; a seed determines everything that happens. From {@link #FILE_SEEDS} on, the thread begins with
 * a checkpoint with undecided calls. Executes the steps that the state decides as activities that end at random times,
 * lets people interfere, resets the thread, and continues as new. After every fact, {@link Ledger} checks the state.
 */
final class Simulation {
    /** Mistakes that a driver can make. A test makes each of them to prove that the simulation notices it. */
    enum Fault {
        NONE,
        DISPATCH_UNRECORDED,
        MODEL_CALL_UNRECORDED,
        RESULT_DROPPED,
        RESULT_OF_ANOTHER_STEP,
        OUTCOMES_OF_A_STALE_REPLY,
        FACT_UNRECORDED,
        MODEL_CALLED_TOO_EARLY,
        QUEUE_LOST_IN_TRANSIT,
        CALL_LOST_IN_TRANSIT,
        EFFECT_WITHOUT_CLAIM,
        LATE_CLAIM_GRANTED,
        CLAIMS_LOST_IN_A_RESET,
        COPIED_ACTIVITY_RUNS,
        CHUNKS_JOINED_AS_THEY_COME,
        CHUNKS_OF_TWO_BUILDS_JOINED,
        ARRIVALS_APPLIED_BACKWARDS
    }

    /**
     * The tools that replies choose from. Many tools with side effects are listed twice, and their arguments vary
     * little, so that identical calls are frequent.
     */
    private static final String[] TOOLS = {
        "add",
        "lookup",
        "ask_user",
        "ask_user",
        "missing",
        "charge",
        "charge",
        "pay",
        "pay",
        "wire",
        "send",
        "mail",
        "book",
        "book",
        "fire",
        "fire",
        "drop",
        "drop",
        "write_todos",
        "write_file",
        "scout",
        "scout"
    };

    /** The beginning of every long result: characters of one to four bytes. */
    private static final String LONG_TEXT = "aé漢😀 needle\n".repeat(14_000);

    /** Tools that need approval, for threads with many grants. */
    private static final String[] APPROVED_TOOLS = {"fire", "fire", "drop", "drop", "charge"};

    private static final String[] SAFE_TOOLS = {"add", "lookup"};

    private static final String[] CALL_IDS = {"tu_1", "tu_2", "tu_3", "tu_1~2", "call", "", "漢", "a", "b", "c", "d/e"};

    /** Threads with this seed or a larger one begin with a checkpoint. */
    static final long FILE_SEEDS = 1_000_000;

    private final Random random;
    /** A separate generator, so that drawing a cost does not advance the generator of everything else. */
    private final Random money;
    /** A separate generator for everything that happens between runs. */
    private final Random transit;
    /** A separate generator for verdicts. */
    private final Random judging;
    /** A separate generator for calls that their server does not finish at once. */
    private final Random suspending;

    private final boolean hasServers;
    /** A separate generator for the calls that run with their reply. */
    private final Random fusing;
    /** A separate generator for grants and for changes of tools. */
    private final Random granting;
    /** A separate generator for announcements. */
    private final Random announcing;
    /** A separate generator for long results, and for reading on in them. */
    private final Random reading;
    /** A separate generator for untrusted words. */
    private final Random distrusting;
    /** Whether the model is shown only a part of long results. */
    private final boolean cuts;
    /** The newest announcement that has begun, by receiver and subject. */
    private final Map<String, Integer> announced = new HashMap<>();
    /** Whether most calls of the thread need approval, and people rarely end its turns. */
    private final boolean grants;

    /** How often the tools have changed, by name. */
    private final Map<String, Integer> changes = new HashMap<>();
    /** The definitions of tools that dispatches were approved with, by run, call and dispatch. */
    private final Map<String, List<String>> approvedDefinitions = new HashMap<>();

    private final Core core;
    private final Fault fault;
    private final Coverage coverage;
    private Ledger ledger;
    private final boolean thorough;

    private final List<Fact> recorded = new ArrayList<>();
    private final List<Instant> times = new ArrayList<>();
    private final List<Conversation> states = new ArrayList<>();
    private final List<List<Activity>> pendingAt = new ArrayList<>();
    /** Whether another fact of the same event follows: a reset cannot cut there. */
    private final List<Boolean> insideEvent = new ArrayList<>();

    private final List<Activity> flights = new ArrayList<>();
    private final Set<String> begun = new HashSet<>();
    private final World world = new World();
    private final Map<String, Child> children = new HashMap<>();
    private final Map<String, World.Execution> running = new HashMap<>();
    /** The states in which the model was called, by run and step: what the model's activity projects. */
    private final Map<String, Conversation> askedIn = new HashMap<>();

    private final List<LateClaim> lateClaims = new ArrayList<>();
    private final AgentPolicy policy;
    private final FileStart file;
    private final List<String> sentIds = new ArrayList<>();
    /** The calls whose whole results the thread does not keep any more. */
    private final List<String> givenUp = new ArrayList<>();

    private Instant at = Instant.parse("2026-05-01T09:00:00Z");
    private Conversation state;

    private int messages;
    private boolean closed;
    private boolean quiet;
    private boolean restoring;
    private int runs = 1;
    private int runBegan;
    /** The positions in {@link #recorded} at which earlier runs began. */
    private final List<Integer> earlierRuns = new ArrayList<>();
    /** The facts that have arrived while a new run fetches its state; empty if no state is being fetched. */
    private Optional<List<Fact>> postponed = Optional.empty();

    private int executions;
    private Optional<Instant> alarm = Optional.empty();

    Simulation(long seed, Core core, Fault fault, Coverage coverage) {
        this.random = new Random(seed);
        this.money = new Random(~seed);
        this.transit = new Random(~(seed * 31));
        this.judging = new Random(seed * 47 + 11);
        this.fusing = new Random(~(seed * 37));
        this.suspending = new Random(seed * 53 + 7);
        this.hasServers = suspending.nextInt(3) == 0;
        this.granting = new Random(seed * 59 + 5);
        this.grants = granting.nextInt(4) == 0;
        this.announcing = new Random(seed * 61 + 3);
        this.reading = new Random(seed * 67 + 13);
        this.cuts = reading.nextInt(12) == 0;
        this.distrusting = new Random(seed * 71 + 17);
        this.core = core;
        this.fault = fault;
        this.coverage = coverage;
        this.policy = distrusting(cutting(telling(changing(ruled(summarised(budgeted(policy(random))))))));
        this.thorough = seed % 50 == 0;
        Optional<Integer> maxIterations = chance(3) ? Optional.of(1 + random.nextInt(4)) : Optional.empty();
        Optional<Parent> parent = chance(4)
                ? Optional.of(new Parent("tu_0", 1 + random.nextInt(5), Optional.empty(), passedOn()))
                : Optional.empty();
        ThreadFact.RunStarted started = new ThreadFact.RunStarted(
                ThreadIdentity.RULES, "helper", chance(6), maxIterations, Optional.empty(), parent, Optional.empty());
        recorded.add(started);
        times.add(at);
        state = Rules.start(started, at);
        this.file = seed < FILE_SEEDS ? FileStart.NONE : fileStart();
        state = file.resumed(at).orElse(state);
        this.ledger = new Ledger(coverage, policy, world, file, parent);
        states.add(state);
        pendingAt.add(List.of());
        insideEvent.add(false);
    }

    /** A checkpoint with open calls of every kind, like a file that was written by hand. */
    private FileStart fileStart() {
        List<Part.ToolUse> calls = new ArrayList<>();
        for (int i = 0; i <= random.nextInt(5); i++) {
            String tool = TOOLS[random.nextInt(TOOLS.length)];
            calls.add(new Part.ToolUse("file" + i, tool, args(tool)));
        }
        Restoration restoration = Rules.restore(at, false)
                .say(Message.user("from elsewhere"), Optional.empty(), at)
                .say(Message.assistant(calls.toArray(new Part[0])), Optional.empty(), at);
        String some = calls.get(random.nextInt(calls.size())).id();
        switch (random.nextInt(6)) {
            case 0 -> restoration.pending(some);
            case 1 -> restoration.begun(some);
            case 2 -> restoration.allAsked();
            case 3 -> restoration.approved(some);
            default -> restoration.untouched();
        }
        if (chance(4)) {
            restoration.rememberIssued("ahead", "pay", effectArgs(), at);
        }
        return new FileStart(
                Optional.of(restoration.restore()), chance(3) ? FileCalls.CONTINUE_SAFE : FileCalls.WAIT, chance(6));
    }

    /** An execution that the thread no longer waits for, but that may still request its claim. */
    private record LateClaim(Activity activity, String run, String execution) {}

    void run() {
        int tasks = 5 + random.nextInt(30) + (grants ? 40 : 0) + (cuts ? 120 : 0);
        if (!chance(5)) {
            apply(message());
        }
        for (int task = 0; task < tasks && !closed; task++) {
            int arrivals = random.nextInt(3);
            for (int i = 0; i < arrivals; i++) {
                arrive();
            }
            work();
            if (chance(12)) {
                reset();
            }
        }
        settle();
        if (closed && chance(10)) {
            reset();
            settle();
        }
        refold();
    }

    /** The facts so far, for finding the cause of a violation. */
    String story() {
        StringBuilder story = new StringBuilder();
        recorded.forEach(fact -> story.append("  ").append(fact).append('\n'));
        return story.toString();
    }

    // ---- the driver

    /** Does what a workflow does in a task: continues as new if it can, and executes steps until none is decided. */
    private void work() {
        for (int round = 0; !closed; round++) {
            Violation.unless(round < 50, "the driver goes round in circles");
            moveOnPerhaps();
            List<Step> steps = Rules.nextSteps(state);
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
            begin("agent", Activity.of("agent", 0, runId()));
            apply(new ThreadFact.AgentRequested());
            return true;
        }

        @Override
        public Boolean callModel(Step.CallModel step) {
            begin("model " + step.step(), Activity.of("model", step.step(), runId()));
            if (fault != Fault.MODEL_CALL_UNRECORDED) {
                apply(new ModelFact.ModelCalled(step.step()));
            }
            askedIn.put(runId() + "/" + step.step(), state);
            return true;
        }

        @Override
        public Boolean summarize(Step.Summarize step) {
            begin("summary " + step.step(), Activity.of("summary", step.step(), runId()));
            apply(new ModelFact.SummaryRequested(step.step()));
            return true;
        }

        @Override
        public Boolean runTool(Step.RunTool step) {
            String callId = step.call().id();
            begin("tool " + callId + " " + step.dispatch(), Activity.tool(step.call(), step.dispatch(), runId()));
            ledger.dispatched(step.call(), step.dispatch());
            List<String> definitions = state.approvedDefinitions(step.call());
            ledger.approvedDefinitions(step.call(), definitions);
            approvedDefinitions.put(runId() + "/" + callId + "/" + step.dispatch(), definitions);
            if (fault != Fault.DISPATCH_UNRECORDED) {
                apply(new ToolFact.ToolDispatched(callId, step.dispatch()));
            }
            if (fault == Fault.MODEL_CALLED_TOO_EARLY) {
                apply(new ModelFact.ModelCalled(state.counters().steps() + 1));
            }
            return true;
        }

        @Override
        public Boolean judge(Step.Judge step) {
            Call call = step.call();
            if (isUnderWay("judge", call.id(), 0)) {
                return false;
            }
            flights.add(Activity.judge(call, runId()));
            apply(new ToolFact.VerdictRequested(call.id()));
            return true;
        }

        @Override
        public Boolean verifyTool(Step.VerifyTool step) {
            Call call = step.call();
            ledger.verifying(call, at, isReportedEnded(call.id()));
            Optional<Boolean> sample = chance(2) ? Optional.of(look(call)) : Optional.empty();
            flights.add(Activity.verify(call, runId(), sample));
            apply(new ToolFact.VerifyDispatched(call.id(), call.dispatches()));
            return true;
        }

        @Override
        public Boolean followTask(Step.FollowTask step) {
            Call call = step.call();
            if (isUnderWay("task", call.id(), call.dispatches())) {
                return false;
            }
            flights.add(Activity.task(call, runId()));
            apply(new ToolFact.TaskFollowed(call.id(), call.dispatches()));
            return true;
        }

        @Override
        public Boolean cancelTask(Step.CancelTask step) {
            Call call = state.calls().get(step.task().callId()).orElseThrow();
            if (isUnderWay("cancel", call.id(), 0)) {
                return false;
            }
            flights.add(Activity.cancel(call, runId()));
            coverage.count("tasks to cancel");
            apply(new ToolFact.TaskCancelRequested(call.id()));
            return true;
        }

        @Override
        public Boolean announce(Step.Announce step) {
            Announcement what = step.what();
            String line = what.receiver() + " " + what.request() + " " + what.turn();
            Violation.unless(
                    flights.stream()
                            .filter(flight -> flight.kind().equals("announcement"))
                            .flatMap(flight -> announcement(flight.step()).stream())
                            .noneMatch(what::isInLineWith),
                    "a receiver is told two things of one subject at a time");
            Violation.unless(
                    announced.getOrDefault(line, 0) <= what.number(), "a receiver is told what was true before");
            Violation.unless(
                    what.outcome().isPresent()
                            || state.asks().stream()
                                    .map(Announcement.Request::of)
                                    .anyMatch(ask -> what.request().equals(Optional.of(ask))),
                    "a request is announced that does not wait");
            announced.put(line, what.number());
            flights.add(Activity.announcement(what.number(), runId()));
            apply(new AnnouncementFact.AnnouncementBegun(what.number()));
            return true;
        }

        private Optional<Announcement> announcement(int number) {
            return state.announcements().stream()
                    .flatMap(all -> all.open().stream())
                    .filter(each -> each.number() == number)
                    .findFirst();
        }

        @Override
        public Boolean startSubagent(Step.StartSubagent step) {
            Call call = step.call();
            ledger.allowed(call, true);
            ledger.judgedToRun(call);
            boolean exists = children.containsKey(call.id());
            begin("subagent " + call.id(), Activity.subagent(call, exists, runId()));
            if (!exists) {
                children.put(call.id(), new Child(call.id(), random, distrusting));
            }
            apply(new SubagentFact.SubagentStarted(call.id(), step.budget()));
            return true;
        }

        @Override
        public Boolean passOn(Step.PassOn step) {
            if (!state.calls()
                    .get(step.callId())
                    .orElseThrow()
                    .subagent()
                    .orElseThrow()
                    .outbox()
                    .contains(step.decision())) {
                return false;
            }
            apply(new SubagentFact.DecisionPassedOn(step.callId()));
            children.get(step.callId()).decided(step.decision(), runs > 1);
            return true;
        }

        @Override
        public Boolean reportToParent(Step.ReportToParent step) {
            apply(new SubagentFact.ParentTold(step.report()));
            coverage.count("reports to the parent");
            return true;
        }

        @Override
        public Boolean wakeAt(Step.WakeAt step) {
            alarm = Optional.of(step.time());
            return false;
        }

        @Override
        public Boolean close(Step.Close step) {
            closed = flights.isEmpty();
            if (closed) {
                coverage.count(step.cancelled() ? "closed by cancel" : "closed");
            }
            return false;
        }

        private void begin(String what, Activity activity) {
            Violation.unless(begun.add(runId() + " " + what), "begun twice: " + what);
            flights.add(activity);
        }
    }

    private AgentPolicy.ToolPolicy policyOf(String tool) {
        return policy.policyOf(tool);
    }

    private String runId() {
        return "run" + runs;
    }

    private boolean landed(Call call) {
        return world.hasEffect(Ledger.key(call), call.repeat());
    }

    /**
     * Checks that everything that the state waits for is pending. If a turn runs that waits for nothing, not even for
     * a person, the state must decide a step.
     */
    private void notStuck() {
        if (closed || state.life() == ThreadIdentity.Life.CANCELLED) {
            return;
        }
        boolean waits = false;
        if (state.agentRequested() && state.policy().isEmpty() && state.turn().status() != Turn.Status.FAILED) {
            waits = true;
            Violation.unless(isUnderWay("agent", "", 0), "stuck: no agent will come");
        }
        if (state.modelCalled()) {
            waits = true;
            Violation.unless(
                    flights.stream()
                            .anyMatch(flight -> flight.kind().equals(state.isSummarizing() ? "summary" : "model")
                                    && flight.step() == state.counters().steps()),
                    "stuck: no reply will come");
        }
        for (Call call : state.batchCalls()) {
            boolean ranElsewhere = state.policy().isEmpty() && file.has(call.id());
            if (call.isInFlight() && !ranElsewhere) {
                waits = true;
                String kind = call.status() == Call.Status.VERIFYING
                        ? "verify"
                        : call.status() == Call.Status.JUDGING
                                ? "judge"
                                : call.status() == Call.Status.FOLLOWING
                                        ? "task"
                                        : call.status() == Call.Status.DELEGATED ? "subagent" : "tool";
                int dispatch = kind.equals("judge") ? 0 : call.dispatches();
                Violation.unless(isUnderWay(kind, call.id(), dispatch), "stuck: no result will come");
            }
        }
        boolean shouldGoOn = state.turn().isRunning() && !state.isInterrupted() && !waits;
        boolean tells = state.parent().isPresent() && state.turn().isRunning();
        Violation.unless(
                !tells
                        || state.reported()
                                        .map(SubagentProgress::asks)
                                        .orElse(List.of())
                                        .size()
                                == state.asks().size(),
                "the thread above is not told what is asked");
        Violation.unless(
                !shouldGoOn || !Rules.nextSteps(state).isEmpty(), "stuck: a turn runs, and nothing is decided");
        Violation.unless(!waits || !state.isBetweenSteps(), "between steps, yet waiting");
    }

    private boolean isUnderWay(String kind, String callId, int dispatch) {
        return flights.stream().anyMatch(flight -> flight.isOf(kind, callId, dispatch));
    }

    private void moveOnPerhaps() {
        if (!restoring && state.hasSubagents() && chance(40)) {
            apply(new SubagentFact.SubagentsCutOff(
                    new Problem(ProblemType.TOO_LARGE, "this run can't grow any further")));
            Violation.unless(!state.hasSubagents(), "a subagent is waited for that was cut off");
        }
        if (!restoring && state.isBetweenSteps() && announcing.nextInt(4) == 0) {
            postponeAnnouncements();
        }
        if (restoring || !flights.isEmpty() || !state.isBetweenSteps() || !chance(quiet ? 20 : 8)) {
            return;
        }
        if (chance(20)) {
            apply(new ThreadFact.LimitReached(new Problem(ProblemType.TOO_LARGE, "too large to carry")));
            coverage.count("limits reached");
            return;
        }
        Conversation before = state;
        Conversation sent = state;
        if (fault == Fault.QUEUE_LOST_IN_TRANSIT) {
            sent = StateEditor.edit(sent, tree -> tree.putArray("queue"));
        }
        if (fault == Fault.CALL_LOST_IN_TRANSIT) {
            sent = StateEditor.edit(sent, tree -> tree.putArray("batch"));
        }
        List<Fact> arrivals = new ArrayList<>();
        state = transit.nextBoolean()
                ? fetched(sent, arrivals)
                : CarriedState.unpack(new CarriedState(sent, Optional.empty()).pack())
                        .state();
        Violation.unless(state.equals(before), "moving to a new run changed the state");
        if (thorough) {
            Violation.unless(StateDigest.of(state).equals(StateDigest.of(before)), "moving changed the state's digest");
        }
        runs++;
        earlierRuns.add(runBegan);
        runBegan = recorded.size() - 1;
        lateClaims.clear();
        coverage.count("continued as new");
        if (!state.batch().isEmpty()) {
            coverage.count("continued as new within a batch");
        }
        int first = recorded.size();
        if (fault == Fault.ARRIVALS_APPLIED_BACKWARDS) {
            for (int i = arrivals.size() - 1; i >= 0; i--) {
                apply(arrivals.get(i));
            }
        } else {
            arrivals.forEach(this::apply);
        }
        Violation.unless(
                recorded.subList(first, recorded.size()).equals(arrivals),
                "what arrived while the state was fetched was lost or shuffled");
    }

    /** Postpones announcements to the next run, like a run that is about to end. */
    private void postponeAnnouncements() {
        if (flights.stream().allMatch(flight -> flight.kind().equals("announcement"))) {
            while (!flights.isEmpty()) {
                apply(new AnnouncementFact.AnnouncementEnded(
                        flights.remove(0).step(), Optional.of(new Problem("Cancelled", "cancelled"))));
            }
        }
    }

    /** Returns the state as the next run fetches it in chunks. Adds facts that arrive meanwhile to {@code arrivals}. */
    private Conversation fetched(Conversation sent, List<Fact> arrivals) {
        Conversation other = states.get(transit.nextInt(states.size()));
        StateTransfer transfer = new StateTransfer(sent, other, runId(), transit, coverage, fault);
        postponed = Optional.of(arrivals);
        while (transfer.arrived().isEmpty()) {
            transfer.goOn();
            if (!quiet && transit.nextInt(6) == 0) {
                someoneActs();
            }
        }
        postponed = Optional.empty();
        return transfer.arrived().get();
    }

    private void apply(Fact fact) {
        if (postponed.isPresent()) {
            coverage.count("arrivals while a state is fetched");
            postponed.get().add(fact);
        } else {
            apply(fact, random.nextInt(3));
        }
    }

    private void apply(Fact fact, int millisLater) {
        at = at.plusMillis(millisLater);
        Conversation before = state;
        if (fact instanceof ToolFact.ToolEndedLate late
                && Rules.refusal(before, late, at).isEmpty()) {
            world.reportedLate(late.execution());
        }
        state = core.apply(state, fact, at);
        if (fact instanceof ThreadFact.TimePassed && state.equals(before)) {
            return;
        }
        if (fault != Fault.FACT_UNRECORDED || state.counters().facts() != 7) {
            recorded.add(fact);
            times.add(at);
            states.add(state);
            pendingAt.add(List.copyOf(flights));
            insideEvent.add(false);
        }
        coverage.count("fact " + fact.type());
        before.callBook().longResults().stream()
                .map(LongResult::callId)
                .filter(id -> state.wholeResult(id).isEmpty())
                .forEach(givenUp::add);
        ledger.check(before, fact, state);
        if (!restoring) {
            world.check(state);
        }
        if (thorough) {
            roundTrip();
        }
    }

    private void roundTrip() {
        try {
            byte[] json = PayloadJson.MAPPER.writeValueAsBytes(state);
            Violation.unless(
                    PayloadJson.MAPPER.readValue(json, Conversation.class).equals(state), "JSON changes the state");
        } catch (IOException e) {
            throw new Violation("JSON can't hold the state: " + e.getMessage());
        }
    }

    /**
     * Checks that a reader who applies all facts without continuing as new sees the same state after each of them. To
     * this reader, a claim of another run looks restored even if it was granted in time, before the reset.
     */
    private void refold() {
        Conversation folded = file.resumed(times.get(0))
                .orElseGet(() -> Rules.start((ThreadFact.RunStarted) recorded.get(0), times.get(0)));
        for (int i = 1; i < recorded.size(); i++) {
            Fact fact = recorded.get(i);
            if (i > runBegan
                    && fact instanceof ToolFact.ToolClaimed claim
                    && !claim.execution().startsWith(runId() + "/")) {
                fact = restored(claim);
            }
            folded = core.apply(folded, fact, times.get(i));
            Violation.unless(folded.equals(states.get(i)), "a reader of the same facts sees another state");
        }
        Violation.unless(folded.equals(state), "a reader of the same facts ends with another state");
    }

    /** Lets everything pending end, answers all requests, and checks that the thread closes or becomes idle. */
    private void settle() {
        quiet = true;
        for (int i = 0; i < 2_000 && !closed; i++) {
            work();
            if (!flights.isEmpty()) {
                activityEnds();
            } else if (state.isInterrupted()) {
                apply(decision(state.asks().get(0)));
            } else if (alarm.isPresent()) {
                wake();
            } else if (!closed) {
                Violation.unless(state.isSettled(), "at rest, and yet not settled");
                Violation.unless(
                        state.announcements()
                                .filter(all -> !all.open().isEmpty())
                                .isEmpty(),
                        "at rest, and somebody is not told");
                return;
            }
        }
        Violation.unless(closed, "the thread never comes to rest");
    }

    // ---- the world

    private void arrive() {
        if (chance(8)) {
            at = at.plusSeconds(random.nextInt(50));
        }
        if (alarm.isPresent() && chance(4)) {
            wake();
            return;
        }
        if (chance(6)) {
            executionActs();
            return;
        }
        if (!state.asks().isEmpty() && judging.nextInt(15) == 0) {
            apply(carelessDecision());
        }
        if (granting.nextInt(20) == 0) {
            changes.merge(TOOLS[granting.nextInt(TOOLS.length)], 1, Integer::sum);
        }
        if (state.grants().last() > 0 && granting.nextInt(12) == 0) {
            apply(PersonFact.GrantRevoked.of(1 + granting.nextInt(state.grants().last() + 1)), 0);
        }
        if (!state.asks().isEmpty() && chance(3)) {
            List<PendingItem> asks = state.asks();
            apply(decision(asks.get(random.nextInt(asks.size()))));
            return;
        }
        if (!flights.isEmpty() && !chance(3)) {
            activityEnds();
            return;
        }
        someoneActs();
    }

    /** The decision, which may also let later calls run if it is an approval. */
    private PersonFact.ApprovalDecided widened(PersonFact.ApprovalDecided decided) {
        return decided.approved() && granting.nextInt(grants ? 4 : 2) != 1 ? decided.granting(granting()) : decided;
    }

    private GrantTerms granting() {
        GrantTerms terms = GrantTerms.THREAD;
        if (granting.nextInt(3) > 0) {
            terms = terms.withTimes(1 + granting.nextInt(4) / 3);
        }
        if (granting.nextInt(4) == 0) {
            terms = terms.lasting(Duration.ofSeconds(1 + granting.nextInt(60)));
        }
        return granting.nextInt(2) == 0 ? terms.like(Json.of(Map.of("parity", granting.nextInt(2)))) : terms;
    }

    /** A decision about arguments that differ from those shown, for any call or none in particular. */
    private PersonFact.ApprovalDecided carelessDecision() {
        List<PendingItem> asks = state.asks();
        return new PersonFact.ApprovalDecided(
                false,
                Optional.empty(),
                judging.nextBoolean()
                        ? Optional.empty()
                        : Optional.of(asks.get(judging.nextInt(asks.size())).callId()),
                Optional.empty(),
                Optional.of("stale"),
                Optional.empty(),
                Optional.empty());
    }

    /** Lets a message, a decision or a command arrive from outside. */
    private void someoneActs() {
        boolean speaks = grants && granting.nextInt(8) > 0 || cuts && reading.nextInt(8) > 0;
        int kind = speaks ? 0 : random.nextInt(100);
        if (kind < 34) {
            apply(message());
        } else if (kind < 58) {
            apply(state.questions().isEmpty() && !chance(6) ? message() : answer(someCallId()));
        } else if (kind < 68) {
            apply(new PersonFact.Stopped(someone()));
        } else if (kind < 71) {
            apply(new PersonFact.Cleared(chance(2), someone()));
        } else if (kind < 77) {
            apply(replacement());
        } else if (kind < 83) {
            apply(new PersonFact.UserSpoke(Optional.empty(), Optional.empty(), Optional.empty(), chance(2)));
        } else if (kind < 90) {
            apply(new PersonFact.BudgetRaised(
                    chance(3) ? Optional.empty() : Optional.of(1 + random.nextInt(12)),
                    new Budget(
                            Optional.empty(), chance(2) ? Optional.empty() : Optional.of(200L + random.nextInt(900))),
                    someone()));
        } else if (kind < 93) {
            apply(new ThreadFact.MessageIgnored(
                    "nonsense", new Problem(ProblemType.BAD_INPUT, "there is no such signal")));
        } else if (kind < 95) {
            apply(
                    chance(2)
                            ? new PersonFact.ApprovalDecided(
                                    chance(2),
                                    Optional.empty(),
                                    anyCallId(),
                                    chance(4) ? Optional.of(effectArgs()) : Optional.empty(),
                                    chance(3) ? Optional.of("stale") : Optional.empty(),
                                    someone(),
                                    Optional.empty())
                            : anySettlement(anyCallId().orElse("a")));
        } else if (kind < 97) {
            apply(new PersonFact.CloseRequested(someone()));
        } else if (chance(2)) {
            apply(new ThreadFact.CancelRequested());
        }
    }

    /**
     * Ends a random activity in a random way, even if the thread no longer waits for it. The activity of a call with
     * side effects may make progress instead.
     */
    private void activityEnds() {
        Activity flight = flights.get(random.nextInt(flights.size()));
        if (flight.kind().equals("tool")
                && policyOf(flight.call().orElseThrow().tool()).effect()) {
            execute(flight);
            return;
        }
        flights.remove(flight);
        if (fault == Fault.RESULT_DROPPED && chance(4)) {
            return;
        }
        int off = fault == Fault.RESULT_OF_ANOTHER_STEP ? 1 : 0;
        switch (flight.kind()) {
            case "agent" ->
                apply(
                        chance(25) && file == FileStart.NONE
                                ? new ThreadFact.AgentRefused(new Problem(ProblemType.NOT_FOUND, "no such agent"))
                                : new ThreadFact.AgentResolved(policy));
            case "model" -> {
                if (chance(10)) {
                    apply(new ModelFact.ModelFailed(
                            flight.step() + off, new Problem("Provider", "overloaded"), spent()));
                } else {
                    replied(flight, flight.step() + off, reply());
                }
            }
            case "summary" -> apply(summaryEnd(flight.step() + off));
            case "judge" -> apply(judgment(flight));
            case "verify" -> apply(verdict(flight));
            case "task" -> apply(taskEnd(flight));
            case "announcement" -> apply(announcementEnd(flight.step()));
            case "cancel" -> apply(new ToolFact.TaskCancelled(flight.callId(), Optional.empty()));
            case "subagent" -> subagent(flight);
            default -> apply(toolEnd(flight, off));
        }
    }

    private Fact announcementEnd(int number) {
        return switch (quiet ? 9 : announcing.nextInt(10)) {
            case 0, 1, 2 ->
                new AnnouncementFact.AnnouncementEnded(number, Optional.of(new Problem("Timeout", "no answer")));
            default -> new AnnouncementFact.AnnouncementEnded(number, Optional.empty());
        };
    }

    private boolean ruled(String tool) {
        return policyOf(tool).ruled();
    }

    private CallVerdict verdict() {
        CallVerdict.Then[] all = CallVerdict.Then.values();
        CallVerdict.Then then = judging.nextInt(3) == 0 ? CallVerdict.Then.ASK : all[judging.nextInt(all.length)];
        return new CallVerdict(then, Optional.of(1), Optional.of("a rule"), Optional.empty());
    }

    private Fact judgment(Activity flight) {
        Fact end = judging.nextInt(4) > 0
                ? new ToolFact.VerdictGiven(flight.callId(), found(flight.call().orElseThrow(), verdict()))
                : new ToolFact.VerdictFailed(
                        flight.callId(),
                        new Problem(
                                judging.nextBoolean() ? ProblemType.UNKNOWN_RULES : "Timeout", "no worker answered"));
        coverage.count("verdicts apart from the reply");
        return end;
    }

    /** The verdict with the other findings of an activity: the matching grants and the tool's definition. */
    private CallVerdict found(Call call, CallVerdict verdict) {
        List<Integer> matching = state.grants().comparable(call.tool(), state.updatedAt()).stream()
                .filter(grant -> Ledger.isLike(grant.terms().like().orElseThrow(), call.args()))
                .map(Grant::number)
                .toList();
        return verdict.comparedWith(
                        Optional.of(new CallVerdict.Compared(state.grants().last(), matching)))
                .about(policyOf(call.tool()).changeable() ? Optional.of(definition(call.tool())) : Optional.empty());
    }

    private String definition(String tool) {
        return tool + " " + changes.getOrDefault(tool, 0);
    }

    /** A reply with verdicts about most calls of tools with rules: a worker may leave some to activities of their own. */
    private Reply judged(Reply reply) {
        List<Reply.Judged> verdicts = new ArrayList<>();
        int number = 0;
        for (Part part : reply.content()) {
            if (part instanceof Part.ToolUse use) {
                Call call = Call.issued(use, 1, at);
                if (ruled(use.name()) && judging.nextInt(5) > 0) {
                    verdicts.add(new Reply.Judged(number, granting.nextBoolean() ? verdict() : found(call, verdict())));
                } else if (!ruled(use.name()) && policyOf(use.name()).changeable() && granting.nextBoolean()) {
                    verdicts.add(new Reply.Judged(number, found(call, CallVerdict.ask("always"))));
                }
                number++;
            }
        }
        return verdicts.isEmpty() ? reply : reply.withVerdicts(verdicts);
    }

    /**
     * Applies what the model's activity returns: a reply, and the outcomes of its calls, if all of them may run there.
     * Afterwards, the state must be the one that the same outcomes of separate activities lead to.
     */
    private void replied(Activity flight, int step, Reply reply) {
        ModelFact.ModelReplied replied = new ModelFact.ModelReplied(step, reply);
        Conversation asked = askedIn.get(flight.run() + "/" + flight.step());
        List<ModelResult.Ran> ran = asked == null
                ? List.of()
                : ran(Rules.apply(asked, new ModelFact.ModelReplied(flight.step(), reply), at));
        Conversation before = state;
        boolean stale = !before.awaitsModel(step);
        List<Fact> facts = new Work.Model(step)
                .completed(
                        new ModelResult(reply, ran),
                        fault == Fault.OUTCOMES_OF_A_STALE_REPLY && asked != null ? asked : before);
        apply(facts.get(0));
        Instant time = at;
        for (Fact fact : facts.subList(1, facts.size())) {
            if (fact instanceof ToolFact.ToolDispatched dispatched) {
                state.calls()
                        .get(dispatched.callId())
                        .ifPresent(call -> ledger.dispatched(call, dispatched.dispatch()));
                begun.add(runId() + " tool " + dispatched.callId() + " " + dispatched.dispatch());
            }
            insideEvent.set(insideEvent.size() - 1, true);
            at = time;
            apply(fact, 0);
        }
        Violation.unless(
                state.equals(unfused(before, replied, stale ? List.of() : ran, time)),
                "calls that ran with their reply led to another state than separate ones");
        if (!ran.isEmpty()) {
            boolean all = ran.size()
                    == reply.content().stream()
                            .filter(Part.ToolUse.class::isInstance)
                            .count();
            coverage.count(
                    stale
                            ? "stale replies with outcomes"
                            : all ? "steps in one activity" : "steps with calls left over");
        }
    }

    /** The outcomes of the reply's calls that the model's activity runs. A call that fails there has none. */
    private List<ModelResult.Ran> ran(Conversation after) {
        List<ModelResult.Ran> ran = new ArrayList<>();
        for (Step.RunTool run : Rules.callsToRunWithReply(after)) {
            ToolOutcome outcome = suspends()
                    ? ToolOutcome.suspended(suspension())
                    : switch (fusing.nextInt(6)) {
                        case 0 -> ToolOutcome.error("Tool error: no");
                        case 1 -> ToolOutcome.question("Which day?");
                        default -> ToolOutcome.result(result(fusing));
                    };
            if (fusing.nextInt(6) > 0) {
                ran.add(new ModelResult.Ran(run.call().id(), outcome));
            }
        }
        return fusing.nextInt(4) == 0 ? List.of() : ran;
    }

    /** The state after the same outcomes, if the calls had been dispatched as the state decides. */
    private Conversation unfused(Conversation before, Fact replied, List<ModelResult.Ran> ran, Instant time) {
        Conversation now = core.apply(before, replied, time);
        for (Step step : Rules.nextSteps(now)) {
            if (step instanceof Step.RunTool run
                    && ran.stream()
                            .anyMatch(each -> each.callId().equals(run.call().id()))) {
                now = core.apply(now, new ToolFact.ToolDispatched(run.call().id(), run.dispatch()), time);
            }
        }
        for (ModelResult.Ran each : ran) {
            now = core.apply(now, each.outcome().toFact(each.callId(), 1), time);
        }
        return now;
    }

    private Fact summaryEnd(int step) {
        if (money.nextInt(6) == 0) {
            return new ModelFact.SummaryFailed(step, new Problem("Provider", "overloaded"), spent());
        }
        String words = money.nextInt(8) == 0 ? " " : "summary-" + step;
        return new ModelFact.Summarised(step, charged(List.of(new Part.Text(words))));
    }

    /** Lets something happen in a subagent's thread, which may report it to its parent. */
    private void subagent(Activity flight) {
        Child child = children.get(flight.callId());
        boolean wanted = state.calls()
                .get(flight.callId())
                .filter(call -> call.status() == Call.Status.DELEGATED)
                .isPresent();
        if (flight.step() == 1) {
            apply(new SubagentFact.SubagentNotStarted(flight.callId(), true, "there is a thread of its name"));
        } else if (child.end().isPresent()) {
            apply(child.end().get()); // After a reset, the end is reported again.
        } else if (quiet || chance(3)) {
            apply(child.finish(!wanted));
        } else {
            flights.add(flight);
            child.live(at);
            if (!chance(4)) {
                apply(child.report());
            }
        }
    }

    /** Returns what a check finds. If the tool's check forbids later effects, a negative result stays true. */
    private boolean look(Call call) {
        boolean landed = landed(call);
        if (!landed && policyOf(call.tool()).forbids()) {
            world.forbid(Ledger.key(call), call.repeat());
        }
        return landed;
    }

    /** Whether the call's worker was reported as ended, and the call was not verified since. */
    private boolean isReportedEnded(String callId) {
        for (int i = recorded.size() - 1; i >= 0; i--) {
            Fact fact = recorded.get(i);
            if (fact instanceof ToolFact.ToolVerified verified
                    && verified.callId().equals(callId)) {
                return false;
            } else if (fact instanceof ToolFact.ToolLost lost && lost.callId().equals(callId)) {
                return lost.problem().type().equals(ProblemType.WORKER_ENDED);
            }
        }
        return false;
    }

    private Fact verdict(Activity flight) {
        boolean landed = flight.sample().orElseGet(() -> look(flight.call().orElseThrow()));
        Optional<Boolean> says = chance(6) ? Optional.empty() : Optional.of(landed);
        coverage.count("verified " + says.map(String::valueOf).orElse("null"));
        return new ToolFact.ToolVerified(
                flight.callId(),
                flight.dispatch(),
                says,
                landed && chance(2) ? Optional.of("verified") : Optional.empty());
    }

    // ---- tools with side effects

    /** Lets something happen to the activity of a call with side effects. The activity may stay pending. */
    private void execute(Activity activity) {
        Optional<World.Execution> granted = Optional.ofNullable(running.get(nameOf(activity)));
        if (granted.isPresent()) {
            carryOn(activity, granted.get());
        } else if (!activity.run().equals(runId()) && fault != Fault.COPIED_ACTIVITY_RUNS) {
            end(activity);
            coverage.count("activities of before a reset");
            apply(chance(6) ? lost(activity) : notStarted(activity, newExecution(1), "decided in another run"));
        } else {
            start(activity);
        }
    }

    private static String nameOf(Activity activity) {
        return activity.callId() + "/" + activity.dispatch();
    }

    private String newExecution(int attempt) {
        executions++;
        return runId() + "/" + attempt + "/" + executions;
    }

    private void end(Activity activity) {
        flights.remove(activity);
        running.remove(nameOf(activity));
    }

    private void start(Activity activity) {
        Call call = activity.call().orElseThrow();
        String name = newExecution(1);
        switch (quiet ? 9 : random.nextInt(9)) {
            case 0 -> {
                end(activity);
                apply(notStarted(activity, name, "the worker is stopping"));
            }
            case 1 -> {
                end(activity);
                lateClaims.add(new LateClaim(activity, runId(), name));
                coverage.count("workers lost before a claim");
                apply(chance(2) ? lost(activity) : ended(activity));
            }
            default -> {
                ToolFact.ToolClaimed claim = claim(call, activity.dispatch(), name);
                Optional<Problem> refusal = Rules.refusal(state, claim, at);
                if (fault == Fault.EFFECT_WITHOUT_CLAIM) {
                    grant(activity, name).takeEffect(at);
                    world.check(state);
                } else if (refusal.isPresent()) {
                    end(activity);
                    coverage.count("claims refused " + refusal.get().type());
                    apply(notStarted(activity, name, "refused"));
                } else {
                    apply(claim, 0); // The thread admits and applies a claim at one time.
                    Violation.unless(
                            state.calls()
                                    .get(call.id())
                                    .flatMap(Call::claim)
                                    .filter(each -> each.execution().equals(name))
                                    .isPresent(),
                            "a claim that was not refused was not granted either");
                    ledger.granted(state, state.calls().get(call.id()).orElseThrow());
                    ledger.claimedInTime(state.calls().get(call.id()).orElseThrow(), at);
                    grant(activity, name);
                    List<String> approved =
                            approvedDefinitions.getOrDefault(runId() + "/" + nameOf(activity), List.of());
                    if (!approved.isEmpty() && !approved.contains(definition(call.tool()))) {
                        running.get(nameOf(activity)).end();
                        end(activity);
                        coverage.count("approved calls whose tool has changed");
                        apply(new ToolFact.ToolNotStarted(
                                call.id(),
                                activity.dispatch(),
                                name,
                                "its definition has changed",
                                Optional.of(definition(call.tool()))));
                    }
                }
            }
        }
    }

    private World.Execution grant(Activity activity, String name) {
        Call call = activity.call().orElseThrow();
        boolean honoursKey = policyOf(call.tool()).honoursKey();
        World.Execution execution =
                new World.Execution(name, call.id(), Ledger.key(call), call.repeat(), honoursKey, at);
        running.put(nameOf(activity), execution);
        world.grant(execution);
        return execution;
    }

    private void carryOn(Activity activity, World.Execution execution) {
        if (!execution.isAlive() || (execution.isLate(at) && chance(2))) {
            end(activity);
            coverage.count("executions that took too long");
            apply(lost(activity));
            return;
        }
        // A server that requires input to go on has not taken effect.
        if (!execution.tookEffect() && suspends()) {
            end(activity);
            Suspension how = suspension();
            if (how.task().isPresent() && suspending.nextBoolean()) {
                execution.takeEffect(at);
            }
            execution.end();
            apply(new ToolFact.ToolSuspended(activity.callId(), activity.dispatch(), how));
            return;
        }
        if (chance(8)) {
            end(activity);
            if (chance(2)) {
                execution.takeEffect(at);
            }
            execution.end();
            coverage.count("ends that nobody can tell");
            apply(unclear(activity));
            return;
        }
        switch (quiet ? 5 + random.nextInt(5) : random.nextInt(12)) {
            case 0 -> {
                end(activity);
                execution.takeEffect(at);
                execution.end();
                coverage.count("workers lost after the effect");
                apply(chance(2) ? lost(activity) : ended(activity));
            }
            case 1 -> {
                end(activity);
                if (chance(2)) {
                    coverage.count("workers lost after a claim");
                    apply(lost(activity));
                } else {
                    execution.silence(); // What it has sent may still take effect.
                    coverage.count("workers ended after a claim");
                    apply(ended(activity));
                }
            }
            case 2 -> {
                if (execution.tookEffect()) {
                    break;
                }
                end(activity);
                execution.end();
                coverage.count("own claims given back");
                apply(notStarted(activity, execution.name, "no answer in time"));
            }
            case 3 -> {
                end(activity); // It was paused and resumed: another attempt starts while the first runs.
                coverage.count("second attempts");
                apply(notStarted(activity, newExecution(2), "an earlier attempt may have run"));
            }
            case 4 -> {
                end(activity);
                execution.end();
                finish(execution, new ToolFact.ToolInterrupted(activity.callId(), activity.dispatch(), "Sure?"));
            }
            case 5 -> {
                end(activity);
                boolean notDone = !execution.tookEffect() && chance(2);
                if (!notDone && chance(3)) {
                    execution.takeEffect(at); // A tool may report an error although it took effect.
                }
                execution.end();
                finish(
                        execution,
                        new ToolFact.ToolFinished(
                                activity.callId(),
                                activity.dispatch(),
                                words(activity.callId(), "Tool error: no"),
                                true,
                                notDone));
            }
            case 6, 7, 8 -> {
                execution.takeEffect(at);
                world.check(state);
            }
            default -> {
                end(activity);
                execution.takeEffect(at);
                execution.end();
                String result = words(activity.callId(), result(random));
                finish(execution, new ToolFact.ToolFinished(activity.callId(), activity.dispatch(), result, false));
            }
        }
    }

    private void finish(World.Execution execution, Fact fact) {
        boolean late = state.calls()
                .get(execution.callId)
                .filter(call -> call.status() == Call.Status.CANCELLED)
                .isPresent();
        if (late && fact instanceof ToolFact.ToolFinished) {
            coverage.count("late results of cancelled calls");
            world.reportedLate(execution.name);
        }
        apply(fact);
    }

    private static ToolFact.ToolClaimed claim(Call call, int dispatch, String execution) {
        return new ToolFact.ToolClaimed(
                call.id(), dispatch, call.tool(), call.argsDigest(), call.repeat(), execution, false, call.grant());
    }

    private static ToolFact.ToolClaimed restored(ToolFact.ToolClaimed claim) {
        return new ToolFact.ToolClaimed(
                claim.callId(),
                claim.dispatch(),
                claim.tool(),
                claim.argsDigest(),
                claim.repeat(),
                claim.execution(),
                true,
                claim.grant());
    }

    private static Fact lost(Activity activity) {
        return new ToolFact.ToolLost(
                activity.callId(), activity.dispatch(), new Problem("Timeout", "the worker was lost"));
    }

    /** The fact that the next process of a worker's host has reported the worker as ended. */
    private static Fact ended(Activity activity) {
        return new ToolFact.ToolLost(
                activity.callId(), activity.dispatch(), new Problem(ProblemType.WORKER_ENDED, "the worker has ended"));
    }

    private static Fact unclear(Activity activity) {
        return new ToolFact.ToolLost(
                activity.callId(), activity.dispatch(), new Problem(ProblemType.OUTCOME_UNKNOWN, "HTTP 504"));
    }

    private static Fact notStarted(Activity activity, String execution, String reason) {
        return new ToolFact.ToolNotStarted(activity.callId(), activity.dispatch(), execution, reason);
    }

    /** Lets a lost execution that is still running report its outcome late. */
    private void tellLate(World.Execution zombie) {
        int dispatch = state.calls().get(zombie.callId).map(Call::dispatches).orElse(1);
        Fact end;
        if (chance(5) && !zombie.tookEffect()) {
            end = new ToolFact.ToolNotStarted(zombie.callId, dispatch, zombie.name, "its time was up");
        } else if (chance(5)) {
            end = new ToolFact.ToolInterrupted(zombie.callId, dispatch, "Sure?");
        } else if (chance(4)) {
            end = new ToolFact.ToolFinished(
                    zombie.callId, dispatch, words(zombie.callId, "Tool error: no"), true, !zombie.tookEffect());
        } else {
            zombie.takeEffect(at);
            world.check(state);
            end = new ToolFact.ToolFinished(zombie.callId, dispatch, words(zombie.callId, result(random)), false);
        }
        zombie.end();
        ToolFact.ToolEndedLate late = new ToolFact.ToolEndedLate(zombie.callId, zombie.name, end);
        if (Rules.refusal(state, late, at).isEmpty()) {
            Call.Status before = state.calls().get(zombie.callId).orElseThrow().status();
            coverage.count("late outcomes of calls " + before.name().toLowerCase(Locale.ROOT));
        }
        apply(late);
    }

    /**
     * Lets something happen that does not end an activity: a lost execution reports its outcome, an execution takes
     * effect, or an earlier dispatch requests its claim.
     */
    private void executionActs() {
        List<World.Execution> alive = world.alive();
        if (!alive.isEmpty() && chance(3)) {
            World.Execution zombie = alive.get(random.nextInt(alive.size()));
            if (!running.containsValue(zombie) && !zombie.isSilent()) {
                tellLate(zombie);
            }
        } else if (!alive.isEmpty() && chance(2)) {
            World.Execution zombie = alive.get(random.nextInt(alive.size()));
            zombie.takeEffect(at);
            coverage.count(running.containsValue(zombie) ? "effects" : "effects of zombies");
            world.check(state);
        } else if (!lateClaims.isEmpty()) {
            LateClaim late = lateClaims.remove(random.nextInt(lateClaims.size()));
            ToolFact.ToolClaimed claim =
                    claim(late.activity().call().orElseThrow(), late.activity().dispatch(), late.execution());
            if (late.run().equals(runId())
                    && (Rules.refusal(state, claim, at).isEmpty() || fault == Fault.LATE_CLAIM_GRANTED)) {
                apply(claim, 0); // The thread admits and applies a claim at one time.
                grant(late.activity(), late.execution()).takeEffect(at);
                world.check(state);
            } else {
                coverage.count("late claims refused");
            }
        }
    }

    private void wake() {
        if (alarm.orElseThrow().isAfter(at)) {
            at = alarm.get();
        }
        alarm = Optional.empty();
        apply(new ThreadFact.TimePassed());
    }

    // ---- resets

    /**
     * Resets the run, or the one before it, to an earlier point, as an operator does. Activities that were pending at
     * that point are pending again. Signals and updates that arrived after it arrive again, signals first. Executions
     * may continue to run.
     */
    private void reset() {
        if (!earlierRuns.isEmpty() && transit.nextInt(3) == 0) {
            runBegan = earlierRuns.remove(earlierRuns.size() - 1);
            coverage.count("resets into an earlier run");
        }
        int back = recorded.size() - runBegan;
        int point = recorded.size() - 1 - random.nextInt(chance(2) ? back : Math.min(back, 12));
        while (insideEvent.get(point)) {
            point--;
        }
        List<Fact> later = new ArrayList<>(recorded.subList(point + 1, recorded.size()));
        coverage.count("resets");
        for (List<?> log : List.of(recorded, times, states, pendingAt, insideEvent)) {
            log.subList(point + 1, log.size()).clear();
        }
        state = states.get(point);
        flights.clear();
        flights.addAll(pendingAt.get(point));
        running.clear();
        lateClaims.clear();
        announced.clear();
        runs++;
        closed = false;
        alarm = Optional.empty();
        ledger = new Ledger(coverage, policy, world, file, states.get(0).parent());
        for (int i = 1; i <= point; i++) {
            ledger.book(states.get(i - 1), recorded.get(i), states.get(i));
        }
        restore(later);
    }

    private void restore(List<Fact> later) {
        restoring = true;
        List<Fact> signals = new ArrayList<>();
        List<Fact> updates = new ArrayList<>();
        for (Fact fact : later) {
            if (fact instanceof ToolFact.ToolClaimed claim) {
                updates.add(restored(claim));
            } else if (fact instanceof Fact.Inbound) {
                (chance(2) ? signals : updates).add(fact);
            }
        }
        Rules.nextSteps(state).forEach(step -> {
            if (step instanceof Step.WakeAt wake) {
                alarm = Optional.of(wake.time());
            }
        });
        if (alarm.isPresent() && chance(2)) {
            wake();
        }
        while (!flights.isEmpty() && chance(3)) {
            activityEnds();
        }
        signals.forEach(this::apply);
        if (chance(3)) {
            work();
        }
        for (Fact fact : updates) {
            Optional<Problem> refusal = Rules.refusal(state, (Fact.Inbound) fact, at);
            if (fact instanceof ToolFact.ToolClaimed claim) {
                Violation.unless(refusal.isEmpty(), "a restored claim is refused");
                coverage.count("restored claims");
                if (fault == Fault.CLAIMS_LOST_IN_A_RESET) {
                    continue;
                }
                apply(claim, 0); // The thread admits and applies a claim at one time.
            } else if (refusal.isEmpty()) {
                apply(fact);
            }
            if (chance(4)) {
                work();
            }
        }
        restoring = false;
        world.check(state);
        work();
    }

    /** The result of following a task. The call's effect was decided when the task began. */
    private Fact taskEnd(Activity flight) {
        boolean effect = policyOf(flight.call().orElseThrow().tool()).effect();
        boolean landed = state.calls()
                .get(flight.callId())
                .flatMap(Call::claim)
                .filter(claim -> world.hasEffect(claim.execution()))
                .isPresent();
        int end = quiet ? 9 : suspending.nextInt(10);
        if (end > 3) {
            state.calls()
                    .get(flight.callId())
                    .filter(call -> call.status() == Call.Status.CANCELLED)
                    .flatMap(Call::claim)
                    .ifPresent(claim -> world.reportedLate(claim.execution()));
        }
        return switch (end) {
            case 0 ->
                new ToolFact.ToolLost(
                        flight.callId(), flight.dispatch(), new Problem(ProblemType.UNKNOWN_RULES, "old"));
            case 1 ->
                new ToolFact.ToolLost(
                        flight.callId(), flight.dispatch(), new Problem(ProblemType.OUTCOME_UNKNOWN, "no such task"));
            case 2, 3 ->
                new ToolFact.ToolSuspended(
                        flight.callId(), flight.dispatch(), Suspension.task("t", forms(), 0, Optional.empty()));
            default ->
                new ToolFact.ToolFinished(
                        flight.callId(),
                        flight.dispatch(),
                        effect && !landed ? "Tool error: no" : "done",
                        effect && !landed);
        };
    }

    /** Whether a server leaves a call unfinished. */
    private boolean suspends() {
        return hasServers && !quiet && suspending.nextInt(2) == 0;
    }

    private Suspension suspension() {
        coverage.count("suspended calls");
        return switch (suspending.nextInt(4)) {
            case 0 -> Suspension.repeated(Optional.of("state"), Map.of());
            case 1 -> Suspension.repeated(Optional.of("state"), forms());
            default -> Suspension.task("t", Map.of(), suspending.nextInt(2) * 5_000, Optional.empty());
        };
    }

    /** One or two forms with a field that takes any text. */
    private Map<String, Json> forms() {
        Map<String, Json> forms = new LinkedHashMap<>();
        for (int i = 0; i <= suspending.nextInt(2); i++) {
            Map<String, Object> schema =
                    Map.of("type", "object", "properties", Map.of("a", Map.of("type", "string", "maxLength", 1_000)));
            forms.put("k" + suspending.nextInt(1_000), Json.of(Map.of("message", "Which?", "requestedSchema", schema)));
        }
        return forms;
    }

    private Fact toolEnd(Activity flight, int off) {
        int dispatch = flight.dispatch() + off;
        if (suspends()) {
            return new ToolFact.ToolSuspended(flight.callId(), dispatch, suspension());
        }
        return switch (random.nextInt(9)) {
            case 8 -> new ToolFact.ToolNotStarted(flight.callId(), dispatch, newExecution(1), "the worker is stopping");
            case 0 -> new ToolFact.ToolLost(flight.callId(), dispatch, new Problem("Timeout", "the worker was lost"));
            case 1, 2 -> new ToolFact.ToolInterrupted(flight.callId(), dispatch, "Which day?");
            case 3 ->
                new ToolFact.ToolFinished(flight.callId(), dispatch, words(flight.callId(), "Tool error: no"), true);
            default ->
                new ToolFact.ToolFinished(flight.callId(), dispatch, words(flight.callId(), result(random)), false);
        };
    }

    /** What a tool says. If it is untrusted, every part of its words has the mark. */
    private String words(String callId, String text) {
        boolean isUntrusted = state.calls()
                .get(callId)
                .filter(call -> WordLedger.isUntrusted(policy, call.tool()))
                .isPresent();
        return isUntrusted ? WordLedger.MARK + text.replace("needle", "needle " + WordLedger.MARK) : text;
    }

    private Optional<UntrustedWords> passedOn() {
        return switch (distrusting.nextInt(3)) {
            case 0 -> Optional.of(UntrustedWords.NONE.from(WordSource.parent("tu_0")));
            case 1 ->
                Optional.of(UntrustedWords.NONE.from(WordSource.parent("tu_0")).afterMessage());
            default -> Optional.empty();
        };
    }

    /** A result, which is often too long for an agent that cuts them, by a few bytes or by far. */
    private String result(Random number) {
        String result = "result-" + number.nextInt(1000);
        if (!cuts || reading.nextInt(3) == 0) {
            return result;
        }
        int units = reading.nextInt(3) == 0 ? 2_000 + reading.nextInt(400) : reading.nextInt(LONG_TEXT.length() - 1);
        int end = Character.isHighSurrogate(LONG_TEXT.charAt(units)) ? units + 2 : units + 1;
        return result + LONG_TEXT.substring(0, end);
    }

    /** Reads on in a result that the thread has, in another one of its calls, or in one that it does not have. */
    private Part.ToolUse read() {
        List<LongResult> whole = state.callBook().longResults();
        List<String> known = new ArrayList<>(state.calls().toMap().keySet());
        String call = switch (reading.nextInt(6)) {
            case 0 -> "child/tu_1";
            case 1 -> known.isEmpty() ? "tu_1" : known.get(reading.nextInt(known.size()));
            case 2, 3 -> givenUp.isEmpty() ? "tu_1" : givenUp.get(reading.nextInt(givenUp.size()));
            default ->
                whole.isEmpty()
                        ? "tu_1"
                        : whole.get(reading.nextInt(whole.size())).callId();
        };
        Map<String, Object> args = new LinkedHashMap<>();
        args.put("call", call);
        switch (reading.nextInt(4)) {
            case 0 -> args.put("search", reading.nextBoolean() ? "needle" : "not there");
            case 1, 2 -> args.put("from", reading.nextInt(4_000) * (reading.nextInt(4) == 0 ? 60 : 1));
            default -> {
                // From the beginning.
            }
        }
        executions++;
        return new Part.ToolUse("read" + executions, LongResult.READ_TOOL, Json.of(args));
    }

    private Reply reply() {
        List<Part> parts = new ArrayList<>();
        if (chance(8)) {
            parts.add(new Part.Reasoning("hm", Json.of(Map.of("signature", "é😀"))));
        }
        if (!chance(6)) {
            parts.add(new Part.Text("reply-" + random.nextInt(1000)));
        }
        int calls = quiet ? 0 : Math.max(0, random.nextInt(chance(6) ? 14 : 7) - 2);
        boolean safe = fusing.nextInt(5) == 0 || cuts && reading.nextInt(4) > 0;
        for (int i = 0; i < calls; i++) {
            String any = TOOLS[random.nextInt(TOOLS.length)];
            String tool = safe
                    ? SAFE_TOOLS[i % SAFE_TOOLS.length]
                    : grants && granting.nextInt(5) > 0 ? APPROVED_TOOLS[granting.nextInt(APPROVED_TOOLS.length)] : any;
            executions++;
            String id = chance(2) ? CALL_IDS[random.nextInt(CALL_IDS.length)] : "fresh" + executions;
            parts.add(new Part.ToolUse(id, tool, args(tool)));
        }
        if (cuts && !quiet && calls > 0 && reading.nextInt(2) == 0) {
            parts.add(read());
            calls++;
        }
        coverage.count("replies with " + Math.min(calls, 5) + " calls");
        Reply reply = judged(charged(parts));
        if (calls > 0 || state.turn().schema().isEmpty()) {
            return reply;
        }
        return money.nextInt(2) == 0 ? reply.withMisfit("it is not JSON") : reply.withStructured(Json.EMPTY_OBJECT);
    }

    private Reply charged(List<Part> parts) {
        return new Reply(parts, new Usage(random.nextInt(100), random.nextInt(100)), "end_turn")
                .charged(Optional.of(Usd.of(BigDecimal.valueOf(money.nextInt(1000), 6))), spent());
    }

    /** The cost of attempts without a result. */
    private Spent spent() {
        return money.nextInt(5) == 0
                ? new Spent(new Usage(money.nextInt(50), 0), Optional.of(Usd.of(BigDecimal.valueOf(1, 3))))
                : Spent.NOTHING;
    }

    private Json args(String tool) {
        if (tool.equals("ask_user") && !chance(8)) {
            return Json.of(Map.of("question", "question-" + random.nextInt(1000)));
        }
        if (tool.equals("scout") && !chance(8)) {
            return Json.of(Map.of("task", "task-" + random.nextInt(1000)));
        }
        if (tool.equals("write_todos")) {
            Map<String, Object> todo = Map.of("id", "1", "content", "é", "status", chance(4) ? "maybe" : "pending");
            return Json.of(Map.of("todos", List.of(todo)));
        }
        if (tool.equals("write_file")) {
            return Json.of(Map.of("path", "a/" + random.nextInt(3), "content", "漢" + random.nextInt(1000)));
        }
        if (policyOf(tool).effect()) {
            return effectArgs();
        }
        return switch (random.nextInt(6)) {
            case 0 -> Json.of(null);
            case 1 -> Json.of(Map.of("x", -0.0, "y", 1e-7, "z", new java.math.BigInteger("123456789012345678901")));
            case 2 -> Json.of(List.of(List.of(), Map.of(), "漢\u0000", true));
            default -> Json.of(Map.of("a", random.nextInt(9)));
        };
    }

    private Json effectArgs() {
        return Json.of(Map.of("n", random.nextInt(3)));
    }

    private PersonFact.UserSpoke message() {
        Optional<Json> schema = money.nextInt(8) == 0 ? Optional.of(Json.EMPTY_OBJECT) : Optional.empty();
        return new PersonFact.UserSpoke(
                        someId(), Optional.empty(), Optional.of(Message.user(nextWords())), false, schema)
                .withUntrusted(distrusting.nextInt(8) == 0);
    }

    /** No message id, a new one, or one that was sent before. */
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

    private PersonFact.UserSpoke replacement() {
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
        return new PersonFact.UserSpoke(Optional.empty(), Optional.of(list), content, false);
    }

    private PersonFact.HumanAnswered answer(Optional<String> callId) {
        return new PersonFact.HumanAnswered(
                quiet ? Optional.empty() : someId(), callId, "answer-" + random.nextInt(1000), someone());
    }

    /** No call id, the id of a call that asks, or any id. */
    private Optional<String> someCallId() {
        List<PendingItem> questions = state.asks().stream()
                .filter(ask -> ask.kind() == PendingItem.Kind.QUESTION)
                .toList();
        if (chance(3)) {
            return Optional.empty();
        }
        return !questions.isEmpty() && !chance(5)
                ? Optional.of(questions.get(random.nextInt(questions.size())).callId())
                : anyCallId();
    }

    private Optional<String> anyCallId() {
        List<Call> batch = state.batchCalls();
        if (!batch.isEmpty() && chance(2)) {
            return Optional.of(batch.get(random.nextInt(batch.size())).id());
        }
        return chance(3) ? Optional.empty() : Optional.of(CALL_IDS[random.nextInt(CALL_IDS.length)]);
    }

    private Fact decision(PendingItem ask) {
        Optional<Call> own = state.calls().get(ask.callId());
        if (own.isPresent()) {
            return decision(own.get());
        }
        coverage.count("decisions below");
        Optional<String> id = quiet ? Optional.empty() : someId();
        return switch (ask.kind()) {
            case QUESTION -> answer(Optional.of(ask.callId()));
            case APPROVAL ->
                new PersonFact.ApprovalDecided(
                        chance(2),
                        id,
                        Optional.of(ask.callId()),
                        Optional.empty(),
                        chance(2) ? ask.argsDigest() : Optional.empty(),
                        someone(),
                        Optional.empty());
            case UNKNOWN ->
                new PersonFact.OutcomeSettled(
                        ask.callId(),
                        CallSettlement.Outcome.named(ask.outcomes()
                                        .get(random.nextInt(ask.outcomes().size())))
                                .orElseThrow(),
                        Optional.empty(),
                        someone(),
                        someone(),
                        Optional.empty(),
                        Optional.empty());
        };
    }

    /**
     * A person's decision about a pending call. It is true when it is made, but a call that is said not to have taken
     * effect may still do so until its fence.
     */
    private Fact decision(Call call) {
        Optional<String> id = quiet ? Optional.empty() : someId();
        return switch (call.status()) {
            case AWAITING -> {
                boolean approves = !chance(4);
                Optional<Json> edit = approves && chance(4) ? Optional.of(effectArgs()) : Optional.empty();
                edit = call.tool().equals("write_file") || call.mayHaveRunBefore() ? Optional.empty() : edit;
                Optional<String> digest = chance(2) ? Optional.of(call.argsDigest()) : Optional.empty();
                yield widened(new PersonFact.ApprovalDecided(
                        approves, id, Optional.of(call.id()), edit, digest, someone(), Optional.empty()));
            }
            case UNSETTLED -> {
                boolean landed = call.claim()
                        .filter(claim -> world.hasEffect(claim.execution()))
                        .isPresent();
                CallSettlement.Outcome settlement = chance(3)
                        ? CallSettlement.Outcome.GIVE_UP
                        : landed
                                ? CallSettlement.Outcome.DONE
                                : chance(2) ? CallSettlement.Outcome.NOT_DONE : CallSettlement.Outcome.RERUN;
                boolean sure = landed || isOver(call) || settlement == CallSettlement.Outcome.NOT_DONE;
                boolean may = settlement != CallSettlement.Outcome.RERUN
                        || policyOf(call.tool()).honoursKey();
                yield new PersonFact.OutcomeSettled(
                        call.id(),
                        sure && may ? settlement : CallSettlement.Outcome.GIVE_UP,
                        Optional.empty(),
                        someone(),
                        someone(),
                        Optional.empty(),
                        Optional.empty());
            }
            default -> answer(Optional.of(call.id()));
        };
    }

    private boolean isOver(Call call) {
        return world.alive().stream().noneMatch(each -> each.key.equals(Ledger.key(call)));
    }

    /** Any settlement of any call. A person who was asked for the outcome tells the truth, as in {@link #decision}. */
    private Fact anySettlement(String callId) {
        CallSettlement.Outcome[] all = CallSettlement.Outcome.values();
        CallSettlement.Outcome verdict = all[random.nextInt(all.length)];
        return state.calls()
                .get(callId)
                .filter(call -> call.status() == Call.Status.UNSETTLED)
                .map(this::decision)
                .orElseGet(() -> new PersonFact.OutcomeSettled(callId, verdict, Optional.empty(), someone()));
    }

    private Optional<String> someone() {
        return chance(2) ? Optional.of("ann") : Optional.empty();
    }

    private boolean chance(int oneIn) {
        return random.nextInt(oneIn) == 0;
    }

    private static AgentPolicy policy(Random random) {
        Map<String, AgentPolicy.Executor> tools = new LinkedHashMap<>();
        for (String activity :
                List.of("add", "lookup", "charge", "pay", "wire", "send", "mail", "book", "fire", "drop")) {
            tools.put(activity, AgentPolicy.Executor.ACTIVITY);
        }
        tools.put("ask_user", AgentPolicy.Executor.QUESTION);
        tools.put("scout", AgentPolicy.Executor.SUBAGENT);
        tools.put("write_todos", AgentPolicy.Executor.STATE);
        tools.put("write_file", AgentPolicy.Executor.STATE);
        long timeout = World.TIMEOUT.toMillis();
        Map<String, AgentPolicy.ToolPolicy> policies = new LinkedHashMap<>();
        policies.put("charge", new AgentPolicy.ToolPolicy(true, false, false, false, false, timeout, false, false));
        policies.put("pay", new AgentPolicy.ToolPolicy(true, false, false, true, false, timeout, true, false));
        policies.put("wire", new AgentPolicy.ToolPolicy(true, false, false, true, true, timeout, false, false));
        policies.put(
                "send",
                new AgentPolicy.ToolPolicy(true, false, false, true, random.nextBoolean(), timeout, false, true));
        policies.put("mail", new AgentPolicy.ToolPolicy(true, false, false, false, true, timeout, true, false));
        policies.put(
                "book",
                new AgentPolicy.ToolPolicy(
                        true, false, true, random.nextBoolean(), false, timeout, random.nextBoolean(), false));
        policies.put(
                "fire",
                new AgentPolicy.ToolPolicy(true, true, random.nextBoolean(), false, false, timeout, false, false));
        policies.put("drop", new AgentPolicy.ToolPolicy(true, true, false, true, true, timeout, true, false));
        policies.put("write_file", new AgentPolicy.ToolPolicy(false, true, false, false, false, 0, false, false));
        Optional<AgentPolicy.Approvals> approvals = switch (random.nextInt(6)) {
            case 0 -> Optional.of(new AgentPolicy.Approvals(true, Optional.empty()));
            case 1, 2 -> Optional.of(new AgentPolicy.Approvals(false, Optional.of(30_000L)));
            default -> Optional.empty();
        };
        return new AgentPolicy("helper", 6, tools, policies, approvals);
    }

    /** In every fifth simulation, some tools of all kinds have rules that decide which calls need approval. */
    private AgentPolicy ruled(AgentPolicy plain) {
        if (judging.nextInt(5) > 0) {
            return plain;
        }
        Map<String, AgentPolicy.ToolPolicy> policies = new LinkedHashMap<>(plain.policies());
        for (String tool : List.of("add", "charge", "pay", "send", "book", "fire", "drop", "scout", "write_file")) {
            if (judging.nextInt(3) > 0) {
                AgentPolicy.ToolPolicy known = plain.policyOf(tool);
                policies.put(
                        tool,
                        new AgentPolicy.ToolPolicy(
                                known.effect(),
                                true,
                                known.dedupe(),
                                known.verify(),
                                known.ask(),
                                known.timeoutMillis(),
                                known.honoursKey(),
                                known.forbids(),
                                true));
            }
        }
        return with(policies, plain);
    }

    private static AgentPolicy with(Map<String, AgentPolicy.ToolPolicy> policies, AgentPolicy plain) {
        return new AgentPolicy(
                plain.agent(),
                plain.maxIterations(),
                plain.tools(),
                policies,
                plain.approvals(),
                plain.budget(),
                plain.context(),
                plain.summaries(),
                plain.announce());
    }

    /** In every third simulation, receivers are told, and in most of these, requests expire. */
    private AgentPolicy telling(AgentPolicy plain) {
        if (announcing.nextInt(3) > 0) {
            return plain;
        }
        WaitRule waiting = WaitRule.DEFAULT.reminding(Duration.ofSeconds(5)).escalating(Duration.ofSeconds(20), "boss");
        AgentPolicy.Approvals approvals = new AgentPolicy.Approvals(
                plain.approvals().filter(AgentPolicy.Approvals::nobody).isPresent(),
                announcing.nextInt(4) > 0 ? Optional.of(30_000L) : Optional.empty(),
                Optional.empty(),
                announcing.nextInt(4) == 0 ? waiting.keepingOn() : waiting);
        List<AnnounceRule> rules = List.of(
                AnnounceRule.to("ops").only(AnnouncedEvent.values()),
                AnnounceRule.to("team").only(AnnouncedEvent.WAITING, AnnouncedEvent.TURN_ENDED),
                AnnounceRule.to("boss").only());
        return new AgentPolicy(
                plain.agent(),
                plain.maxIterations(),
                plain.tools(),
                plain.policies(),
                Optional.of(approvals),
                plain.budget(),
                plain.context(),
                plain.summaries(),
                rules);
    }

    /** In every second simulation, tools that need approval may change while the thread runs. */
    private AgentPolicy changing(AgentPolicy plain) {
        if (granting.nextBoolean()) {
            return plain;
        }
        Map<String, AgentPolicy.ToolPolicy> policies = new LinkedHashMap<>(plain.policies());
        for (String tool : List.of("fire", "drop", "charge", "pay")) {
            policies.computeIfPresent(tool, (name, known) -> known.changing());
        }
        return with(policies, plain);
    }

    private AgentPolicy cutting(AgentPolicy plain) {
        if (!cuts) {
            return plain;
        }
        Map<String, AgentPolicy.Executor> tools = new LinkedHashMap<>(plain.tools());
        tools.put(LongResult.READ_TOOL, AgentPolicy.Executor.STATE);
        return new AgentPolicy(
                plain.agent(),
                plain.maxIterations(),
                tools,
                plain.policies(),
                plain.approvals(),
                plain.budget(),
                plain.context(),
                plain.summaries(),
                plain.announce(),
                plain.continueCut(),
                Optional.of(new ResultRule(4 * 1024)),
                plain.untrusted());
    }

    /** In every second simulation, some tools are untrusted, and perhaps a server has described them. */
    private AgentPolicy distrusting(AgentPolicy plain) {
        return distrusting.nextBoolean()
                ? plain
                : plain.withUntrusted(new UntrustedRule(
                        Set.of("lookup", "pay", "book", "mail"),
                        distrusting.nextInt(4) == 0 ? List.of("docs") : List.of()));
    }

    private AgentPolicy summarised(AgentPolicy whole) {
        return money.nextInt(3) > 0
                ? whole
                : whole.withSummaries(new SummaryRule(20 + money.nextInt(200), 1 + money.nextInt(5)));
    }

    private AgentPolicy budgeted(AgentPolicy unlimited) {
        return money.nextInt(4) > 0
                ? unlimited
                : unlimited.withBudget(new Budget(Optional.empty(), Optional.of(150L + money.nextInt(300))));
    }
}
