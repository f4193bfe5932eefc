package dev.waymark.client.connection;

import dev.waymark.client.failure.Remedy;
import dev.waymark.client.failure.WaymarkException;
import dev.waymark.client.list.ServerLoad;
import dev.waymark.client.request.OutboundMessage;
import dev.waymark.codec.ThreadForgottenException;
import dev.waymark.connect.Connection;
import dev.waymark.connect.ServerAnswer;
import dev.waymark.contract.EncryptedDataConverter;
import dev.waymark.contract.PayloadJson;
import dev.waymark.contract.WireNames;
import dev.waymark.contract.message.Ack;
import dev.waymark.contract.message.Refusal;
import dev.waymark.contract.thread.StartInput;
import dev.waymark.contract.thread.StateReport;
import dev.waymark.contract.thread.ThreadIndex;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.state.UnknownRulesException;
import dev.waymark.conversation.value.Problem;
import dev.waymark.conversation.value.ProblemType;
import dev.waymark.conversation.value.Sha256;
import dev.waymark.history.HistoryReader;
import io.grpc.StatusRuntimeException;
import io.temporal.api.common.v1.WorkflowExecution;
import io.temporal.api.enums.v1.PendingActivityState;
import io.temporal.api.enums.v1.TaskQueueType;
import io.temporal.api.enums.v1.UpdateWorkflowExecutionLifecycleStage;
import io.temporal.api.enums.v1.WorkflowExecutionStatus;
import io.temporal.api.enums.v1.WorkflowIdReusePolicy;
import io.temporal.api.query.v1.WorkflowQuery;
import io.temporal.api.update.v1.Input;
import io.temporal.api.update.v1.Meta;
import io.temporal.api.update.v1.Outcome;
import io.temporal.api.update.v1.Request;
import io.temporal.api.update.v1.WaitPolicy;
import io.temporal.api.workflow.v1.PendingActivityInfo;
import io.temporal.api.workflow.v1.WorkflowExecutionInfo;
import io.temporal.api.workflowservice.v1.DescribeWorkflowExecutionResponse;
import io.temporal.api.workflowservice.v1.QueryWorkflowRequest;
import io.temporal.api.workflowservice.v1.QueryWorkflowResponse;
import io.temporal.api.workflowservice.v1.UpdateWorkflowExecutionRequest;
import io.temporal.api.workflowservice.v1.UpdateWorkflowExecutionResponse;
import io.temporal.client.WorkflowExecutionAlreadyStarted;
import io.temporal.client.WorkflowNotFoundException;
import io.temporal.client.WorkflowOptions;
import io.temporal.client.WorkflowServiceException;
import io.temporal.client.WorkflowStub;
import io.temporal.common.converter.DataConverter;
import io.temporal.failure.ApplicationFailure;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Supplier;

/** Sends requests to the Temporal server, and converts its errors. Does not wait for the outcomes of turns. */
public final class Requests {
    /** How long a request waits for a worker. A polling worker takes a task within milliseconds. */
    public static final Duration WORKER_WAIT = Duration.ofSeconds(10);

    private static final long BACK_OFF_MILLIS = 200;

    /** A thread that has not answered an update by then may have rules that no worker of this version knows. */
    private static final long PROMPT_MILLIS = 1_000;

    private final Connection connection;
    private final HistoryReader histories;
    private final String taskQueue;
    private final QueuePolls polls;
    private final RequestGate gate = new RequestGate();

    public Requests(Connection connection, HistoryReader histories, String taskQueue) {
        this.connection = connection;
        this.histories = histories;
        this.taskQueue = taskQueue;
        this.polls = new QueuePolls(connection, taskQueue);
    }

    /** The task queue on which threads are started. */
    public String taskQueue() {
        return taskQueue;
    }

    /** The tasks of the task queue that no worker has taken. */
    public ServerLoad.Backlog backlog(TaskQueueType type) {
        return polls.backlog(type);
    }

    /** Sends a request that many callers may send at once, such as the start of a thread, in its turn. */
    public <T> T inTurn(Supplier<T> request, WaitDeadline deadline) {
        return gate.pass(request, deadline);
    }

    /** The newest run of a thread on the server. */
    public record Known(String runId, boolean open) {}

    public record Accepted(Ack ack, String runId) {}

    public Optional<Known> find(String thread) {
        Optional<WorkflowExecutionInfo> info =
                histories.describe(thread).map(description -> description.getWorkflowExecutionInfo());
        if (info.isEmpty()) {
            return Optional.empty();
        }
        String type = info.get().getType().getName();
        if (!type.equals(WireNames.WORKFLOW_TYPE)) {
            throw new WaymarkException.NotFound(
                    "not a thread but a workflow of type " + type + ": " + thread,
                    Remedy.of(Remedy.Action.LIST_THREADS));
        }
        return Optional.of(new Known(
                info.get().getExecution().getRunId(),
                info.get().getStatus() == WorkflowExecutionStatus.WORKFLOW_EXECUTION_STATUS_RUNNING));
    }

    public Known get(String thread) {
        return find(thread).orElseThrow(() -> noSuchThread(thread));
    }

    public Known getOpen(String thread) {
        Known known = get(thread);
        if (!known.open()) {
            throw closed(thread);
        }
        return known;
    }

    /**
     * Starts a thread. Returns empty if a thread with this id exists and was not forgotten.
     *
     * @param copiedFrom the thread whose conversation the new one begins with
     */
    public Optional<String> start(String thread, StartInput input, Optional<String> copiedFrom) {
        WorkflowIdReusePolicy reuse = begin(thread, copiedFrom);
        try {
            return Optional.of(started(
                    thread, input, options -> stub(options, reuse).start(input).getRunId()));
        } catch (WorkflowExecutionAlreadyStarted e) {
            return Optional.empty();
        }
    }

    /**
     * Like {@link #start}, but also if a closed thread has this id. Requests with the same request id start one thread
     * and get its run.
     */
    public Optional<String> startAnew(String thread, StartInput input, Optional<String> copiedFrom, String requestId) {
        begin(thread, copiedFrom);
        try {
            return Optional.of(started(
                    thread,
                    input,
                    options -> stub(
                                    options.setRequestId(Sha256.hex(requestId)),
                                    WorkflowIdReusePolicy.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE)
                            .start(input)
                            .getRunId()));
        } catch (WorkflowExecutionAlreadyStarted e) {
            return Optional.empty();
        }
    }

    /**
     * Sends a signal, and starts the thread if it does not exist. The signal is stored when this returns. Returns the
     * run that received it.
     */
    public String signalWithStart(String thread, PersonFact message, StartInput input) {
        WorkflowIdReusePolicy reuse = begin(thread, Optional.empty());
        try {
            return started(
                    thread,
                    input,
                    options -> stub(options, reuse)
                            .signalWithStart(message.signal(), new Object[] {message.payload()}, new Object[] {input})
                            .getRunId());
        } catch (WorkflowExecutionAlreadyStarted e) {
            throw closed(thread);
        }
    }

    /**
     * Creates a key for a thread that is about to start, if threads have keys of their own. An existing thread keeps
     * the key that it started with, or stays without one. Returns the policy for reusing the thread's id, which allows
     * only the id of a forgotten thread to be reused.
     */
    private WorkflowIdReusePolicy begin(String thread, Optional<String> copiedFrom) {
        boolean isFree = false;
        if (EncryptedDataConverter.threadKeys(connection.client()).isPresent()) {
            Optional<Known> known = find(thread);
            isFree =
                    known.filter(run -> !run.open() && isForgotten(thread, run)).isPresent();
            if (known.isEmpty() || isFree) {
                createKey(thread, copiedFrom);
            }
        }
        return isFree
                ? WorkflowIdReusePolicy.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE
                : WorkflowIdReusePolicy.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE;
    }

    private void createKey(String thread, Optional<String> copiedFrom) {
        EncryptedDataConverter.threadKeys(connection.client())
                .ifPresent(keys -> keys.begin(connection.namespace(), thread, copiedFrom));
    }

    /** Returns whether the key of this run was destroyed. */
    public boolean isForgotten(String thread, Known run) {
        if (EncryptedDataConverter.threadKeys(connection.client()).isEmpty()) {
            return false;
        }
        try {
            histories.startInput(thread, run.runId());
            return false;
        } catch (ThreadForgottenException e) {
            return true;
        }
    }

    /**
     * Reads the thread's key again: the key is a different one if the thread was forgotten and its id was used again.
     */
    private void refreshKey(String thread) {
        EncryptedDataConverter.threadKeys(connection.client())
                .ifPresent(keys -> keys.refresh(connection.namespace(), thread));
    }

    /** Sends a signal to an open thread. The signal is stored when this returns. */
    public void signal(String thread, PersonFact message) {
        refreshKey(thread);
        try {
            connection.client().newUntypedWorkflowStub(thread).signal(message.signal(), message.payload());
        } catch (WorkflowNotFoundException e) {
            throw goneOrClosed(thread);
        }
    }

    public void cancel(String thread) {
        try {
            connection.client().newUntypedWorkflowStub(thread).cancel();
        } catch (WorkflowNotFoundException e) {
            throw goneOrClosed(thread);
        }
    }

    /** Terminates a thread at once, without its worker. Does nothing if the thread is closed. */
    public void terminate(String thread, String reason) {
        try {
            connection.client().newUntypedWorkflowStub(thread).terminate(reason);
        } catch (WorkflowNotFoundException e) {
            // The thread has closed in the meantime.
        }
    }

    private WorkflowStub stub(WorkflowOptions.Builder options, WorkflowIdReusePolicy reuse) {
        return connection
                .client()
                .newUntypedWorkflowStub(
                        WireNames.WORKFLOW_TYPE,
                        options.setWorkflowIdReusePolicy(reuse).build());
    }

    /**
     * Starts a thread, with search attributes if the server has them. A host of the server that does not know new
     * attributes yet refuses the start; the thread is then started without them.
     */
    private String started(String thread, StartInput input, Function<WorkflowOptions.Builder, String> start) {
        if (!connection.isIndexed()) {
            return start.apply(options(thread, input));
        }
        try {
            return start.apply(options(thread, input)
                    .setTypedSearchAttributes(
                            ThreadIndex.starting(input.agent()).attributes()));
        } catch (WorkflowServiceException e) {
            boolean isInvalid = e.getCause() instanceof StatusRuntimeException cause && ServerAnswer.INVALID.is(cause);
            if (!isInvalid) {
                throw e;
            }
            String runId = start.apply(options(thread, input));
            connection.forgetIndex();
            return runId;
        }
    }

    private WorkflowOptions.Builder options(String thread, StartInput input) {
        return WorkflowOptions.newBuilder()
                .setTaskQueue(taskQueue)
                .setWorkflowId(thread)
                .setStaticSummary(summary(input.agent()))
                .setPriority(connection.fairShares().of(input.owner(), input.agent()));
    }

    /** The summary is not encrypted in workflow lists, so it contains no text of the conversation. */
    static String summary(String agent) {
        return "Agent " + agent;
    }

    /**
     * Sends an update and waits until the thread has accepted or refused it. The same message can be sent again.
     *
     * @throws WaymarkException.NoWorker if no worker took the update in time
     */
    public Accepted update(String thread, OutboundMessage message, WaitDeadline deadline) {
        refreshKey(thread);
        UpdateWorkflowExecutionRequest request = UpdateWorkflowExecutionRequest.newBuilder()
                .setNamespace(connection.namespace())
                .setWorkflowExecution(WorkflowExecution.newBuilder().setWorkflowId(thread))
                .setWaitPolicy(WaitPolicy.newBuilder()
                        .setLifecycleStage(
                                UpdateWorkflowExecutionLifecycleStage
                                        .UPDATE_WORKFLOW_EXECUTION_LIFECYCLE_STAGE_COMPLETED))
                .setRequest(Request.newBuilder()
                        .setMeta(Meta.newBuilder()
                                .setUpdateId(message.updateId())
                                .setIdentity(connection.client().getOptions().getIdentity()))
                        .setInput(Input.newBuilder()
                                .setName(message.name())
                                .setArgs(converter(thread)
                                        .toPayloads(message.payload())
                                        .orElseThrow())))
                .build();
        WaitDeadline nextLook = deadline.orSooner(WORKER_WAIT);
        long mostMillis = PROMPT_MILLIS;
        Optional<StatusRuntimeException> trouble = Optional.empty();
        while (!nextLook.isPast() || (!deadline.isPast() && waitsBehindOthers(thread))) {
            if (nextLook.isPast()) {
                nextLook = deadline.orSooner(WORKER_WAIT);
            }
            try {
                UpdateWorkflowExecutionResponse response = connection
                        .stubs()
                        .blockingStub()
                        .withDeadlineAfter(
                                Math.max(1, Math.min(nextLook.millisLeft(), mostMillis)), TimeUnit.MILLISECONDS)
                        .updateWorkflowExecution(request);
                if (response.hasOutcome()) {
                    String runId =
                            response.getUpdateRef().getWorkflowExecution().getRunId();
                    return new Accepted(ack(thread, response.getOutcome()), runId);
                }
            } catch (StatusRuntimeException e) {
                ServerAnswer answer = ServerAnswer.of(e);
                if (answer == ServerAnswer.GONE) {
                    // A run that is continuing as new refuses updates that it can no longer accept.
                    getOpen(thread);
                } else if (!answer.mayPass()) {
                    requireKnownRules(thread, message.name());
                    throw updateFailure(thread, message.name())
                            .<RuntimeException>map(known -> known)
                            .orElse(e);
                }
                boolean isReachable = answer == ServerAnswer.LATE || answer == ServerAnswer.FAILED;
                if (isReachable && mostMillis == PROMPT_MILLIS) {
                    requireKnownRules(thread, message.name());
                    mostMillis = WORKER_WAIT.toMillis();
                }
                trouble = answer == ServerAnswer.LATE ? Optional.empty() : Optional.of(e);
                Sleeper.millis(Math.min(BACK_OFF_MILLIS, nextLook.millisLeft()));
            }
        }
        requireKnownRules(thread, message.name());
        Optional<WaymarkException> failure = updateFailure(thread, message.name());
        if (failure.isPresent()) {
            throw failure.get();
        }
        if (trouble.isPresent()) {
            throw trouble.get();
        }
        throw notAccepted(thread, message.name());
    }

    /**
     * Throws an exception if this version of Waymark does not know the thread's rules. Its workers fail the tasks of
     * such a thread, which the server reports as its own failure.
     */
    public void requireKnownRules(String thread) {
        find(thread)
                .ifPresent(run -> UnknownRulesException.unlessKnown(
                        histories.startInput(thread, run.runId()).rules()));
    }

    /**
     * Like {@link #requireKnownRules(String)}, for a sent message, which a worker that knows the rules may take or have
     * taken.
     */
    private void requireKnownRules(String thread, String message) {
        try {
            requireKnownRules(thread);
        } catch (UnknownRulesException e) {
            throw new WaymarkException.Refused(
                    ProblemType.UNKNOWN_RULES,
                    e.getMessage() + " It is not known whether the " + message + " was recorded in " + thread,
                    Remedy.NONE);
        }
    }

    /** The failure for an update of a thread whose workflow tasks fail; empty for other threads. */
    private Optional<WaymarkException> updateFailure(String thread, String message) {
        return failsWorkflowTasks(thread)
                ? Optional.of(new WaymarkException.NoWorker(
                        "the workers fail at the work of " + thread + ", and have not taken the " + message,
                        Remedy.advice("Look at the log of the workers, and send it again when the cause is fixed"),
                        thread,
                        false))
                : Optional.empty();
    }

    /** Whether the last workflow task of the thread has failed, so that it is retried. */
    private boolean failsWorkflowTasks(String thread) {
        try {
            return histories
                    .describe(thread)
                    .filter(found -> found.getPendingWorkflowTask().getAttempt() > 1)
                    .isPresent();
        } catch (StatusRuntimeException e) {
            return false;
        }
    }

    private DataConverter converter(String thread) {
        return PayloadJson.dataConverter(connection.client(), thread);
    }

    private Ack ack(String thread, Outcome outcome) {
        if (outcome.hasSuccess()) {
            return PayloadJson.answer(connection.client(), thread, outcome.getSuccess(), Ack.class);
        }
        RuntimeException failure = converter(thread).failureToException(outcome.getFailure());
        if (failure instanceof ApplicationFailure refusal) {
            throw refused(thread, Refusal.parse(refusal.getOriginalMessage()));
        }
        throw failure;
    }

    /** Queries a worker for the thread's current state; returns empty if no worker answers. */
    public Optional<StateReport> queryState(String thread) {
        try {
            QueryWorkflowResponse response = connection
                    .stubs()
                    .blockingStub()
                    .withDeadlineAfter(WORKER_WAIT.toMillis(), TimeUnit.MILLISECONDS)
                    .queryWorkflow(QueryWorkflowRequest.newBuilder()
                            .setNamespace(connection.namespace())
                            .setExecution(WorkflowExecution.newBuilder().setWorkflowId(thread))
                            .setQuery(WorkflowQuery.newBuilder().setQueryType(WireNames.STATE_QUERY))
                            .build());
            return Optional.of(
                    PayloadJson.answer(connection.client(), thread, response.getQueryResult(), StateReport.class));
        } catch (StatusRuntimeException e) {
            return switch (ServerAnswer.of(e)) {
                // A run that is still fetching the state of the previous run rejects the query as invalid.
                case LATE, NOT_READY, INVALID -> Optional.empty();
                case GONE, REFUSED, TAKEN, UNSUPPORTED, BUSY, UNREACHABLE, FAILED -> throw e;
            };
        }
    }

    /** The presence of workers, for a caller whose thread has had work for {@link #WORKER_WAIT} that none has taken. */
    CompletableFuture<WorkerPresence> workers() {
        return polls.presence();
    }

    /** Records that a worker has taken a workflow task for which a caller waited. */
    void taken() {
        polls.taken();
    }

    /**
     * The presence of workers, for a caller whose thread waits for activities that may or may not run. On the in-memory
     * server, an activity that waits for a worker looks like one that runs.
     *
     * @param presence the answer of {@link #workers}, which all callers share; this method sends another request per
     *     thread
     */
    WorkerPresence workersOfActivities(String thread, WorkerPresence presence) {
        if (connection.isInMemory()) {
            return WorkerPresence.BUSY;
        }
        try {
            return presence.isQuiet() && isActivityDue(thread) ? presence : WorkerPresence.BUSY;
        } catch (StatusRuntimeException e) {
            return WorkerPresence.BUSY;
        }
    }

    /** Returns whether all pending activities of this thread, except announcements, have been due for a while. */
    private boolean isActivityDue(String thread) {
        Instant due = Instant.now().minus(WORKER_WAIT);
        List<PendingActivityInfo> pending = histories
                .describe(thread)
                .map(DescribeWorkflowExecutionResponse::getPendingActivitiesList)
                .orElse(List.of());
        List<PendingActivityInfo> work = pending.stream()
                .filter(activity -> !activity.getActivityType().getName().equals(WireNames.ANNOUNCE_ACTIVITY))
                .toList();
        return !work.isEmpty()
                && work.stream()
                        .allMatch(
                                activity -> activity.getState() == PendingActivityState.PENDING_ACTIVITY_STATE_SCHEDULED
                                        && ServerTime.instant(activity.getScheduledTime())
                                                .isBefore(due));
    }

    /**
     * Returns whether a workflow task of this thread waits behind those of other threads. Returns false for a retried
     * task, because workers have taken it and failed.
     */
    private boolean waitsBehindOthers(String thread) {
        try {
            CompletableFuture<WorkerPresence> workers = workers();
            Sleeper.until(workers);
            return workers.join() == WorkerPresence.BUSY
                    && histories
                            .describe(thread)
                            .filter(found -> found.getPendingWorkflowTask().getAttempt() <= 1)
                            .isPresent();
        } catch (StatusRuntimeException e) {
            return ServerAnswer.of(e).mayPass();
        }
    }

    public static WaymarkException refused(String thread, Problem problem) {
        Remedy look = Remedy.of(Remedy.Action.SHOW_THREAD, thread);
        String message = problem.message() + ": " + thread;
        return switch (problem.type()) {
            case ProblemType.NOT_FOUND -> new WaymarkException.NotFound(message, look);
            case ProblemType.CLOSED -> new WaymarkException.Closed(message, "Start another thread");
            case ProblemType.TOO_LARGE -> new WaymarkException.TooLarge(message, look);
            case ProblemType.CALL_REQUIRED ->
                new WaymarkException.Refused(problem.type(), problem.message(), Remedy.of(Remedy.Action.NAME_CALL));
            default -> new WaymarkException.Refused(problem.type(), message, look);
        };
    }

    private WaymarkException goneOrClosed(String thread) {
        return find(thread).isPresent() ? closed(thread) : noSuchThread(thread);
    }

    public static WaymarkException noSuchThread(String thread) {
        return new WaymarkException.NotFound("no such thread: " + thread, Remedy.of(Remedy.Action.LIST_THREADS));
    }

    public static WaymarkException onlySaved(String thread) {
        return new WaymarkException.NotFound(
                "the server does not know the thread, but the saver has it: " + thread,
                Remedy.of(Remedy.Action.RESTORE_THREAD, thread));
    }

    public static WaymarkException closed(String thread) {
        return new WaymarkException.Closed(
                "the thread is closed: " + thread, Remedy.of(Remedy.Action.RESUME_THREAD, thread));
    }

    /**
     * Returns the failure for an update that no worker took. Nothing is stored yet: the server holds the update in
     * memory, in case a worker polls soon.
     */
    private static WaymarkException notAccepted(String thread, String name) {
        return new WaymarkException.NoWorker(
                "no worker took the " + name + " in time: " + thread,
                Remedy.of(Remedy.Action.START_WORKER_AND_LOOK, thread),
                thread,
                false);
    }
}
