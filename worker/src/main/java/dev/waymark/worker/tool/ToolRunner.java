package dev.waymark.worker.tool;

import dev.waymark.agent.AgentSpec;
import dev.waymark.agent.ToolSpec;
import dev.waymark.contract.work.AgentPolicies;
import dev.waymark.contract.work.ToolOutcome;
import dev.waymark.contract.work.VerifyOutcome;
import dev.waymark.conversation.call.AgentPolicy;
import dev.waymark.conversation.call.Suspension;
import dev.waymark.conversation.call.ToolTexts;
import dev.waymark.conversation.value.Json;
import dev.waymark.tool.ToolArguments;
import dev.waymark.worker.inbound.InlineText;
import dev.waymark.worker.judge.CurrentDefinitions;
import dev.waymark.worker.process.CommandRunner;
import dev.waymark.worker.process.ProcessFence;
import dev.waymark.worker.secret.LogSecrets;
import dev.waymark.worker.secret.Secrets;
import dev.waymark.worker.tool.kind.Effect;
import dev.waymark.worker.tool.kind.ToolRun;
import dev.waymark.worker.tool.kind.UnknownDefinitionException;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Runs calls of every kind of tool, without retries. Whether a call may run is decided elsewhere. */
public final class ToolRunner implements CurrentDefinitions {
    private static final Logger LOG = LoggerFactory.getLogger(ToolRunner.class);

    private final ToolKinds kinds;
    private final ToolTimes times;

    /**
     * Texts in which tools reference variables. Kept for all tools, because a tool may return values from the
     * environment of another one.
     */
    private final Set<String> references;

    public ToolRunner(ToolKinds kinds) {
        this(kinds, new ToolTimes(), ConcurrentHashMap.newKeySet());
    }

    private ToolRunner(ToolKinds kinds, ToolTimes times, Set<String> references) {
        this.kinds = kinds;
        this.times = times;
        this.references = references;
    }

    /** Runs the tools as this agent has them: agents may have different Java tools of one name. */
    ToolRunner in(AgentSpec agent) {
        return new ToolRunner(kinds.in(agent.name()), times, references);
    }

    /** Masks the secrets of these tools in the output of all tools. */
    public void hideSecretsOf(Collection<ToolSpec> tools) {
        tools.forEach(this::hideSecretsOf);
    }

    private void hideSecretsOf(ToolSpec tool) {
        List<String> texts = tool.implementation().references();
        if (references.addAll(texts)) {
            LogSecrets.ofThisProcess().learn(texts, CommandRunner.INHERITED);
        }
    }

    private Secrets secrets() {
        return Secrets.of(references, kinds.environment()).except(CommandRunner.INHERITED);
    }

    /**
     * Why these arguments do not match the tool's recorded schema, or do not fit what would run in this worker, for the
     * model; empty if they do.
     */
    Optional<String> misfit(ToolSpec tool, Json args) {
        Optional<String> misfit = ToolArguments.problem(tool.input(), args);
        return misfit.isEmpty() && AgentPolicies.executor(tool.kind()) == AgentPolicy.Executor.ACTIVITY
                ? kinds.of(tool).misfit(tool, args)
                : misfit;
    }

    /** The outcome that explains why a call cannot run; empty if it can. */
    public Optional<ToolOutcome> problem(ToolSpec tool, Json args) {
        return misfit(tool, args)
                .map(why -> ToolOutcome.notDone(ToolTexts.invalidInput(tool.name(), why)))
                .or(() -> kinds.of(tool).problem(tool, args));
    }

    /**
     * Returns the outcome of an approved call whose tool has changed since the approval, or whose current definition
     * cannot be found out; empty if the tool is the approved one. It may still change before it runs.
     *
     * @param approved the digests of the definitions that were approved; empty if the call needed no approval
     * @param execution the claim name of this execution
     */
    Optional<ToolOutcome> changed(ToolSpec tool, List<String> approved, String execution, ProcessFence fence)
            throws InterruptedException {
        if (approved.isEmpty()) {
            return Optional.empty();
        }
        try {
            return kinds.of(tool)
                    .definition(tool, fence)
                    .filter(current -> !approved.contains(current))
                    .map(current -> ToolOutcome.changed(execution, current));
        } catch (UnknownDefinitionException e) {
            return Optional.of(Effect.NOT_DONE.outcome(String.valueOf(e.getMessage())));
        }
    }

    @Override
    public Optional<String> digest(AgentSpec agent, ToolSpec tool, Duration patience, boolean onlyAtHand)
            throws InterruptedException {
        BoundTool<?> bound = kinds.in(agent.name()).of(tool);
        if (onlyAtHand && !bound.isReady(tool)) {
            return Optional.empty();
        }
        try {
            return bound.definition(tool, ProcessFence.in(patience));
        } catch (UnknownDefinitionException e) {
            LOG.info("the definition of {} that a person decides about is unknown: {}", tool.name(), e.getMessage());
            return Optional.empty();
        }
    }

    /** Waits until this thread may run another call to a tool of this kind. */
    ToolSlots.Slot slot(ToolSpec tool, String thread) throws InterruptedException {
        return kinds.of(tool).slots().acquire(thread);
    }

    /** A slot for another call to a tool of this kind, if this thread gets one at once. */
    Optional<ToolSlots.Slot> slotNow(ToolSpec tool, String thread) {
        return kinds.of(tool).slots().tryAcquire(thread);
    }

    /** Whether this worker can run the tool without a connection or a tool that it does not have yet. */
    boolean isReady(ToolSpec tool) {
        return kinds.of(tool).isReady(tool);
    }

    /** Runs a call of a tool that is safe to retry, or returns why it cannot run. */
    ToolOutcome runSafe(AgentSpec agent, DispatchedCall call, BooleanSupplier cancelled) throws InterruptedException {
        ToolSpec tool = call.tool();
        long began = System.nanoTime();
        try {
            Optional<ToolOutcome> problem = problem(tool, call.input().args());
            return problem.isPresent()
                    ? problem.get()
                    : run(call.toolRun(ProcessFence.in(tool.timeout()), Optional.empty(), cancelled));
        } finally {
            times.took(agent, tool, Duration.ofNanos(System.nanoTime() - began));
        }
    }

    /** Whether the agent's tool took longer when it last ran in this worker. */
    boolean wasSlowerThan(Duration limit, AgentSpec agent, ToolSpec tool) {
        return times.wasSlowerThan(limit, agent, tool);
    }

    /** Waits until this thread may run the tool's check. A verify program needs a slot of the command tools. */
    ToolSlots.Slot verifySlot(ToolSpec tool, String thread) throws InterruptedException {
        ToolSlots slots = tool.effects().verify().isEmpty() ? kinds.of(tool).slots() : kinds.programSlots();
        return slots.acquire(thread);
    }

    /** Runs a call once. If the tool is safe to retry, an unknown outcome becomes an error result. */
    public ToolOutcome run(ToolRun run) throws InterruptedException {
        hideSecretsOf(run.tool());
        return seen(run.tool(), kinds.of(run.tool()).run(run));
    }

    /**
     * Asks the tool's server once for the status of a task.
     *
     * @throws io.temporal.failure.ApplicationFailure if the server is to be asked again later
     */
    ToolOutcome follow(ToolSpec tool, Suspension task) throws InterruptedException {
        hideSecretsOf(tool);
        return seen(tool, kinds.of(tool).follow(tool, task, ProcessFence.in(tool.timeout())));
    }

    /** Tells the tool's server that the result of a task is no longer needed. */
    void cancel(ToolSpec tool, String task) throws InterruptedException {
        hideSecretsOf(tool);
        kinds.of(tool).cancel(task, ProcessFence.in(tool.timeout()));
    }

    private ToolOutcome seen(ToolSpec tool, ToolOutcome ended) {
        ToolOutcome outcome = checked(tool, ended).withTexts(secrets()::mask);
        return tool.hasEffect() ? outcome : outcome.ofSafeTool();
    }

    /** Checks whether a lost call took effect. */
    VerifyOutcome verify(ToolRun run) throws InterruptedException {
        hideSecretsOf(run.tool());
        return kinds.of(run.tool()).verify(run).withTexts(secrets()::mask);
    }

    /**
     * Checks the result against the tool's output schema. If they do not match, the tool ran, but its effect is not
     * known: the outcome is unknown, or an error if the tool is safe to retry.
     */
    private static ToolOutcome checked(ToolSpec tool, ToolOutcome outcome) {
        return tool.output()
                .flatMap(schema -> outcome.result().flatMap(text -> ToolArguments.outputProblem(schema, text)))
                .map(problem -> ToolTexts.invalidOutput(tool.name(), problem))
                .map(seen -> tool.hasEffect() ? Effect.UNKNOWN.outcome(seen) : ToolOutcome.error(InlineText.of(seen)))
                .orElse(outcome);
    }
}
