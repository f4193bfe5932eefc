package dev.waymark.worker.workflow;

import dev.waymark.checkpoint.RunnerCheckpoint;
import dev.waymark.contract.CarriedState;
import dev.waymark.contract.RunLimits;
import dev.waymark.contract.SideEffectMarker;
import dev.waymark.contract.StateDigest;
import dev.waymark.contract.TraceIds;
import dev.waymark.contract.WireNames;
import dev.waymark.contract.message.Ack;
import dev.waymark.contract.message.ClaimRequest;
import dev.waymark.contract.message.InboundDecoder;
import dev.waymark.contract.message.PassedOnDecision;
import dev.waymark.contract.message.Refusal;
import dev.waymark.contract.message.SubagentReport;
import dev.waymark.contract.thread.AgentWorkflow;
import dev.waymark.contract.thread.CallItem;
import dev.waymark.contract.thread.StartInput;
import dev.waymark.contract.thread.StateReport;
import dev.waymark.contract.thread.ThreadIndex;
import dev.waymark.contract.thread.ThreadStatus;
import dev.waymark.contract.work.ModelResult;
import dev.waymark.contract.work.RunOutcome;
import dev.waymark.contract.work.Work;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.Step;
import dev.waymark.conversation.decision.PendingItem;
import dev.waymark.conversation.fact.Fact;
import dev.waymark.conversation.fact.SignalNames;
import dev.waymark.conversation.fact.ThreadFact;
import dev.waymark.conversation.fact.ToolFact;
import dev.waymark.conversation.rule.Rules;
import dev.waymark.conversation.state.ThreadIdentity;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Problem;
import dev.waymark.conversation.value.ProblemType;
import dev.waymark.history.RunReader;
import dev.waymark.thread.StatusReport;
import dev.waymark.thread.ThreadOwner;
import dev.waymark.worker.inbound.InlineText;
import io.temporal.common.InitialVersioningBehavior;
import io.temporal.common.converter.EncodedValues;
import io.temporal.common.converter.RawValue;
import io.temporal.failure.CanceledFailure;
import io.temporal.workflow.CancellationScope;
import io.temporal.workflow.ContinueAsNewOptions;
import io.temporal.workflow.DynamicSignalHandler;
import io.temporal.workflow.DynamicUpdateHandler;
import io.temporal.workflow.Workflow;
import io.temporal.workflow.WorkflowInit;
import io.temporal.workflow.unsafe.WorkflowUnsafe;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Drives a conversation. Everything that arrives is applied as a fact at once, in the handler or callback that receives
 * it. The main loop executes what the state decides and sleeps until the state changes.
 *
 * <p>The main loop runs in a detached scope, where a cancellation is only another fact. In the workflow's own scope,
 * every wait would throw an exception after a cancellation.
 */
public final class AgentWorkflowImpl implements AgentWorkflow {
    /** Query answers are limited to 2 MiB, and may be sent together with a workflow task's commands. */
    private static final long MOST_ANSWER_BYTES = 1024 * 1024;

    private static final int NEWEST_CALLS = 200;
    /** Answers to queries cut questions, and the arguments of calls, to this length. History has them in full. */
    private static final int MOST_CHARACTERS = 4_000;

    private final StartInput input;
    private final Consumer<RunReader.Called> modelCalls;
    private final AppliedFacts appliedFacts;
    private final String thread = Workflow.getInfo().getWorkflowId();
    private final RunLimits limits;
    private final RunGrowth growth;
    private final RunningWork runningWork;
    private final WebUiCard card = new WebUiCard(thread);
    private final WakeTimer alarm = new WakeTimer(() -> apply(new ThreadFact.TimePassed()));

    /** Present in a run that begins by fetching the previous run's state. */
    private Optional<StateArrival> arrival = Optional.empty();

    /** Null while the previous run's state is arriving. */
    private @Nullable Conversation known;

    private Optional<ThreadIndex> indexed = ThreadIndex.in(Workflow.getTypedSearchAttributes());
    private boolean changed = true;
    private boolean closed;

    /** Runs before any signal is handled, so that the start is the first fact. */
    @WorkflowInit
    public AgentWorkflowImpl(StartInput input) {
        this(input, called -> {}, AppliedFacts.IGNORED, model -> Optional.empty());
    }

    /**
     * @param modelCalls receives every model call just before it is scheduled, except on replay
     * @param appliedFacts receives every fact except the start of the thread, but none on replay
     * @param limitedQueues returns the task queue for the calls of a model; empty for that of the thread
     */
    public AgentWorkflowImpl(
            StartInput input,
            Consumer<RunReader.Called> modelCalls,
            AppliedFacts appliedFacts,
            Function<String, Optional<String>> limitedQueues) {
        this.input = input;
        this.modelCalls = modelCalls;
        this.appliedFacts = appliedFacts;
        this.limits = input.limits().orElse(RunLimits.DEFAULT);
        this.growth = new RunGrowth(limits);
        if (input.carried().isPresent()) {
            CarriedState carried = CarriedState.unpack(input.carried().get());
            runningWork = new RunningWork(this::apply, this::conversation, carried.agent(), limitedQueues);
            known = carried.state();
        } else if (input.inChunks().isPresent()) {
            runningWork = new RunningWork(this::apply, this::conversation, Optional.empty(), limitedQueues);
            arrival = Optional.of(new StateArrival(input.inChunks().get(), this::arrived));
        } else {
            runningWork = new RunningWork(this::apply, this::conversation, Optional.empty(), limitedQueues);
            List<Fact> facts = input.facts();
            known = Rules.start((ThreadFact.RunStarted) facts.get(0), now());
            facts.subList(1, facts.size()).forEach(this::apply);
        }
        CancellationScope.current().getCancellationRequest().thenApply(reason -> {
            apply(new ThreadFact.CancelRequested());
            return null;
        });
        Workflow.registerListener(new UnknownSignals());
        Workflow.registerListener(new Updates());
    }

    @Override
    public RunOutcome run(StartInput sameInput) {
        CancellationScope loop = Workflow.newDetachedCancellationScope(this::loop);
        loop.run();
        if (conversation().life() == ThreadIdentity.Life.CANCELLED) {
            throw new CanceledFailure("the thread was cancelled");
        }
        return conversation().parent().isPresent()
                ? RunOutcome.of(conversation(), InlineText::of)
                : RunOutcome.of(conversation());
    }

    private void loop() {
        arrival.ifPresent(StateArrival::await);
        while (!closed) {
            changed = false;
            runningWork.cancelUnwanted();
            Driver driver = new Driver(continueAsNewIfDue());
            Rules.nextSteps(conversation()).forEach(step -> step.match(driver));
            alarm.set(driver.wakeAt, now());
            Workflow.setCurrentDetails(card.of(conversation()));
            index();
            if (!closed) {
                Workflow.await(() -> changed || runningWork.wantsAnotherTask());
            }
        }
    }

    /** Sets the search attributes that have changed, if the thread was started with search attributes. */
    private void index() {
        if (indexed.isEmpty()) {
            return;
        }
        ThreadIndex now = ThreadIndex.of(conversation());
        if (!indexed.get().equals(now)) {
            Workflow.upsertTypedSearchAttributes(now.changesSince(indexed.get()));
            indexed = Optional.of(now);
        }
    }

    private void apply(Fact fact) {
        if (known == null) {
            arrival.orElseThrow().postpone(() -> apply(fact));
            return;
        }
        Conversation before = conversation();
        known = Rules.apply(before, fact, now());
        changed = true;
        if (!WorkflowUnsafe.isReplaying()) {
            appliedFacts.applied(before, fact, conversation(), runningWork.agent());
        }
    }

    private void arrived(CarriedState carried) {
        runningWork.continueWith(carried.agent());
        known = carried.state();
    }

    private Conversation conversation() {
        if (known == null) {
            throw new IllegalStateException("the state of the previous run has not been fetched yet");
        }
        return known;
    }

    /** The subject that owns the thread. */
    private Optional<String> owner() {
        return input.owner().flatMap(ThreadOwner::subject);
    }

    private TraceIds traceIds() {
        return TraceIds.of(Workflow.getInfo().getFirstExecutionRunId(), input.traceparent());
    }

    private static Instant now() {
        return Instant.ofEpochMilli(Workflow.currentTimeMillis());
    }

    /** Executes the steps that the state decided, as far as this run may start them. */
    private final class Driver implements Step.Cases<Boolean> {
        private final MayStart mayStart;
        private Optional<Instant> wakeAt = Optional.empty();

        Driver(MayStart mayStart) {
            this.mayStart = mayStart;
        }

        @Override
        public Boolean resolveAgent(Step.ResolveAgent step) {
            return mayStart.work
                    && runningWork.resolveAgent(step, conversation().rules());
        }

        @Override
        public Boolean callModel(Step.CallModel step) {
            return mayStart.work && ask(new Work.Model(step.step()));
        }

        @Override
        public Boolean summarize(Step.Summarize step) {
            return mayStart.work && ask(new Work.Summary(step.step()));
        }

        private boolean ask(Work<ModelResult> work) {
            apply(work.begun());
            if (!WorkflowUnsafe.isReplaying()) {
                modelCalls.accept(
                        new RunReader.Called(conversation(), runningWork.agent().orElseThrow(), traceIds()));
            }
            runningWork.callModel(owner());
            return true;
        }

        @Override
        public Boolean runTool(Step.RunTool step) {
            return mayStart.work && runningWork.runTool(step);
        }

        @Override
        public Boolean judge(Step.Judge step) {
            return mayStart.work && runningWork.judge(step, owner());
        }

        @Override
        public Boolean verifyTool(Step.VerifyTool step) {
            return mayStart.work && runningWork.verifyTool(step);
        }

        @Override
        public Boolean followTask(Step.FollowTask step) {
            return mayStart.work && runningWork.followTask(step);
        }

        @Override
        public Boolean cancelTask(Step.CancelTask step) {
            return runningWork.cancelTask(step);
        }

        @Override
        public Boolean announce(Step.Announce step) {
            return mayStart.announcements && runningWork.announce(step);
        }

        @Override
        public Boolean startSubagent(Step.StartSubagent step) {
            if (!mayStart.work) {
                return false;
            }
            String callId = step.call().id();
            String name = WireNames.subagentThread(thread, callId);
            if (name.getBytes(StandardCharsets.UTF_8).length > WireNames.MAX_THREAD_BYTES) {
                record(SideEffectMarker.notStarting(
                        callId, "its thread's name would have more than " + WireNames.MAX_THREAD_BYTES + " bytes"));
                return true;
            }
            StartInput below = StartInput.ofSubagent(
                            step.call().tool(),
                            String.valueOf(step.call().args().field("task")),
                            conversation().context(),
                            conversation().parentFor(step),
                            input.limits(),
                            conversation().session().map(own -> WireNames.subagentThread(own, callId)))
                    .ownedBy(input.owner())
                    .tracedBy(Optional.of(traceIds().traceparentOf(callId)));
            return runningWork.startSubagent(name, below, indexed.isPresent());
        }

        @Override
        public Boolean passOn(Step.PassOn step) {
            return runningWork.signal(
                    WireNames.subagentThread(thread, step.callId()),
                    step.decision().signal(),
                    step.decision().body(),
                    new PassedOnDecision(step.callId()).sent());
        }

        @Override
        public Boolean reportToParent(Step.ReportToParent step) {
            // A run started by hand with a subagent's input has no parent. The server then rejects the signal.
            String parent = Workflow.getInfo().getParentWorkflowId().orElse(thread);
            SubagentReport report = new SubagentReport(step.parent().callId(), step.report());
            return runningWork.signal(parent, SignalNames.SUBAGENT, report, report.sent());
        }

        @Override
        public Boolean wakeAt(Step.WakeAt step) {
            wakeAt = Optional.of(step.time());
            return true;
        }

        @Override
        public Boolean close(Step.Close step) {
            closed = runningWork.isIdle();
            return closed;
        }
    }

    /** The work that a large run may still start: announcements, and everything else. */
    private enum MayStart {
        ANYTHING(true, true),
        NO_ANNOUNCEMENTS(true, false),
        ONLY_ANNOUNCEMENTS(false, true),
        NOTHING(false, false);

        private final boolean work;
        private final boolean announcements;

        MayStart(boolean work, boolean announcements) {
            this.work = work;
            this.announcements = announcements;
        }
    }

    /** Continues as new if that is due and possible. Otherwise returns what this run may still start. */
    private MayStart continueAsNewIfDue() {
        long begunWith = arrival.map(StateArrival::bytes).orElse(0L);
        return switch (growth.limit(conversation(), begunWith)) {
            case NONE -> MayStart.ANYTHING;
            case BUILD -> continueAsNewWhenIdle(MayStart.ANYTHING);
            case SOFT -> continueAsNewWhenIdle(MayStart.NO_ANNOUNCEMENTS);
            case HARD -> conversation().full() ? MayStart.ONLY_ANNOUNCEMENTS : continueAsNewAtHardLimit();
        };
    }

    /**
     * Waits until nothing is running, and cancels announcements if only they remain.
     *
     * @param meanwhile what may start while something else is running
     */
    private MayStart continueAsNewWhenIdle(MayStart meanwhile) {
        if (isEnding() || !conversation().isBetweenSteps()) {
            return MayStart.ANYTHING;
        }
        if (runningWork.hasOnlyAnnouncements()) {
            runningWork.postponeAnnouncements();
            return MayStart.NOTHING;
        }
        if (!runningWork.isIdle()) {
            return meanwhile;
        }
        continueAsNew(false);
        growth.didNotFit();
        return MayStart.ANYTHING;
    }

    /**
     * At a hard limit, starts nothing that the end of the run would cut off. If the state does not fit into a new run,
     * the thread is full, and stays in this one.
     */
    private MayStart continueAsNewAtHardLimit() {
        boolean ending = isEnding();
        if (runningWork.hasOnlySubagents() && conversation().hasSubagents()) {
            // When a run continues as new, the server ends its remaining children without notice.
            record(SideEffectMarker.cuttingOff(new Problem(
                    ProblemType.TOO_LARGE,
                    "this run can't grow any further, and the next one can't wait for what this one began")));
            runningWork.cancelUnwanted();
        }
        if (runningWork.hasOnlyAnnouncements()) {
            runningWork.postponeAnnouncements();
        }
        if (ending || !conversation().isBetweenSteps() || !runningWork.isIdle()) {
            return MayStart.NOTHING;
        }
        continueAsNew(true);
        return MayStart.ONLY_ANNOUNCEMENTS;
    }

    private boolean isEnding() {
        return Rules.nextSteps(conversation()).stream().anyMatch(Step.Close.class::isInstance);
    }

    /** Continues as new, and does not return, if the state fits into a new run. A pinned thread gets the target build. */
    private void continueAsNew(boolean hard) {
        NextRunInput next = new NextRunInput(new CarriedState(conversation(), runningWork.agent()), limits);
        SideEffectMarker marker = next.decide(hard);
        marker.fact().ifPresent(this::apply);
        if (marker.fits()) {
            Workflow.continueAsNew(
                    ContinueAsNewOptions.newBuilder()
                            .setInitialVersioningBehavior(InitialVersioningBehavior.AUTO_UPGRADE)
                            .build(),
                    next.input(input, marker));
        }
    }

    /** Applies a fact that no other event represents, and records it in a side effect. */
    private void record(SideEffectMarker marker) {
        Workflow.sideEffect(SideEffectMarker.class, () -> marker).fact().ifPresent(this::apply);
    }

    private void receive(String signal, @Nullable RawValue payload) {
        growth.countSignal();
        apply(InboundDecoder.read(signal, payload == null ? null : payload.getPayload()));
    }

    @Override
    public void say(RawValue payload) {
        receive(SignalNames.SAY, payload);
    }

    @Override
    public void answer(RawValue payload) {
        receive(SignalNames.ANSWER, payload);
    }

    @Override
    public void approve(RawValue payload) {
        receive(SignalNames.APPROVE, payload);
    }

    @Override
    public void deny(RawValue payload) {
        receive(SignalNames.DENY, payload);
    }

    @Override
    public void revoke(RawValue payload) {
        receive(SignalNames.REVOKE, payload);
    }

    @Override
    public void settle(RawValue payload) {
        receive(SignalNames.SETTLE, payload);
    }

    @Override
    public void budget(RawValue payload) {
        receive(SignalNames.BUDGET, payload);
    }

    @Override
    public void stop(RawValue payload) {
        receive(SignalNames.STOP, payload);
    }

    @Override
    public void clear(RawValue payload) {
        receive(SignalNames.CLEAR, payload);
    }

    @Override
    public void close(RawValue payload) {
        receive(SignalNames.CLOSE, payload);
    }

    private static @Nullable RawValue first(EncodedValues payloads) {
        return payloads.getSize() == 0 ? null : payloads.get(0, RawValue.class);
    }

    private final class UnknownSignals implements DynamicSignalHandler {
        @Override
        public void handle(String name, EncodedValues payloads) {
            if (!WireNames.isReserved(name)) {
                receive(name, first(payloads));
            }
        }

        @Override
        public String getDescription() {
            return "Any other signal is ignored, and shown under \"ignored\".";
        }
    }

    /**
     * Handles every signal of the contract, and the claims of tools, as updates. The validator refuses an update with a
     * reason, or accepts it. An accepted update fails only if it was accepted before the state arrived, and is then
     * refused.
     */
    private final class Updates implements DynamicUpdateHandler {
        @Override
        public void handleValidate(String name, EncodedValues payloads) {
            Fact fact = read(name, payloads);
            Optional<Problem> problem = fact instanceof Fact.Inbound inbound
                    ? refusal(inbound)
                    : Optional.of(((ThreadFact.MessageIgnored) fact).problem());
            if (problem.isPresent()) {
                throw new Refusal(problem.get());
            }
        }

        @Override
        public Object handleExecute(String name, EncodedValues payloads) {
            growth.countUpdate();
            Fact.Inbound fact = (Fact.Inbound) read(name, payloads);
            return known == null ? arrival.orElseThrow().answer(fact, this::refusal, this::execute) : execute(fact);
        }

        /** While the state is arriving, every update is accepted, and answered once the state has arrived. */
        private Optional<Problem> refusal(Fact.Inbound fact) {
            return known == null ? Optional.empty() : Rules.updateRefusal(conversation(), fact, now());
        }

        private Object execute(Fact.Inbound fact) {
            Optional<Integer> before = conversation().firstDelivery(fact);
            apply(fact);
            if (fact instanceof ToolFact.ToolClaimed claimed) {
                return conversation()
                        .granted(claimed)
                        .map(claim -> new ClaimRequest.Answer(true, claim.token()))
                        .orElseGet(() -> new ClaimRequest.Answer(false, 0));
            }
            return new Ack(before.orElse(conversation().counters().facts()), before.isPresent());
        }

        @Override
        public String getDescription() {
            return "Every signal, as an update: acknowledged, or refused with a reason.";
        }

        private Fact read(String name, EncodedValues payloads) {
            RawValue payload = first(payloads);
            return InboundDecoder.readUpdate(
                    name,
                    payload == null ? null : payload.getPayload(),
                    Workflow.getInfo().getRunId());
        }
    }

    @Override
    public StatusReport status() {
        return ThreadStatus.of(conversation());
    }

    @Override
    public List<PendingItem> pending() {
        return conversation().pending(thread).stream()
                .limit(NEWEST_CALLS)
                .map(item -> item.shortened(MOST_CHARACTERS))
                .toList();
    }

    @Override
    public List<CallItem> calls() {
        return CallItem.of(thread, conversation(), NEWEST_CALLS).stream()
                .map(item -> item.shortened(MOST_CHARACTERS))
                .toList();
    }

    @Override
    public Json checkpoint() {
        long bytes = conversation().transcript().bytes();
        if (bytes > MOST_ANSWER_BYTES) {
            throw new IllegalStateException("the checkpoint takes " + bytes + " bytes, more than a query may answer."
                    + " Read it from history: ./waymark checkpoint " + thread);
        }
        return RunnerCheckpoint.of(conversation());
    }

    @Override
    public StateReport state() {
        return new StateReport(
                conversation().transcript().digest(),
                Workflow.getInfo().getHistoryLength(),
                conversation().rules(),
                StateDigest.of(conversation()),
                conversation().counters().facts());
    }
}
