package dev.waymark.conversation.value;

/**
 * The types of problems: what programs distinguish in results, in the output of {@code --json}, and as {@code code} of
 * HTTP answers. Histories contain those of the first four groups.
 */
public final class ProblemType {
    // What a thread refuses, and how turns and calls end

    /** Too large to be stored or passed to the next run. */
    public static final String TOO_LARGE = "TooLarge";
    /** Something that was named does not exist, or no open request matches. */
    public static final String NOT_FOUND = "NotFound";
    /** The thread is closing or closed. */
    public static final String CLOSED = "Closed";
    /** The call was answered, decided or settled before. */
    public static final String ALREADY_DECIDED = "AlreadyDecided";
    /** The decision refers to other arguments than those that would run. */
    public static final String ARGS_CHANGED = "ArgsChanged";
    /** Several requests are open, and the message names none of them. */
    public static final String CALL_REQUIRED = "CallRequired";
    /** A message with this id arrived before. */
    public static final String DUPLICATE = "Duplicate";
    /** Only signed decisions count, and this decision has no valid signature. */
    public static final String SIGNATURE_REQUIRED = "SignatureRequired";
    /** The input is invalid, or not possible in the current state. */
    public static final String BAD_INPUT = "BadInput";
    /** The agent cannot be determined, or cannot be used. */
    public static final String AGENT_INVALID = "AgentInvalid";
    /** The thread uses newer rules than the worker knows, so the worker leaves the work to others. */
    public static final String UNKNOWN_RULES = "UnknownRules";
    /** The thread has used up its budget. */
    public static final String BUDGET = "Budget";
    /** The turn reached its maximum number of model calls. */
    public static final String MAX_ITERATIONS = "MaxIterations";
    /** A person stopped the turn. */
    public static final String STOPPED = "Stopped";
    /** The thread was forked in the middle of this turn, and the turn does not continue in the new thread. */
    public static final String FORKED = "Forked";
    /** The thread was terminated in the middle of a turn. */
    public static final String TERMINATED = "Terminated";
    /** The turn had failed when its checkpoint was written. */
    public static final String RECORDED = "Recorded";
    /** A transcript or checkpoint violates its format. */
    public static final String CORRUPTION = "CheckpointCorruption";

    // Calls of tools

    /** A tool's server still works on its task. */
    public static final String TASK_WORKING = "TaskWorking";
    /** It is unknown whether a call took effect. */
    public static final String OUTCOME_UNKNOWN = "OutcomeUnknown";
    /**
     * The process that executed the activity has ended, as the next process on its host has reported. Nothing can
     * report the outcome.
     */
    public static final String WORKER_ENDED = "WorkerEnded";
    /**
     * Before a reset, another thread had this subagent call and may have executed it; that thread's history was
     * deleted.
     */
    public static final String RAN_BEFORE = "RanBefore";
    /** The connection to an MCP server broke during a call. */
    public static final String MCP_CONNECTION_LOST = "McpConnectionLost";
    /** An MCP server cannot list its tools. */
    public static final String MCP_UNAVAILABLE = "McpUnavailable";

    // Models and their services

    /** The model's final reply does not match the schema. */
    public static final String SCHEMA_MISMATCH = "SchemaMismatch";
    /** The reply reached its token limit. */
    public static final String REPLY_CUT = "ReplyCut";
    /** The reply has no text. */
    public static final String REPLY_EMPTY = "ReplyEmpty";
    /** The reply is larger than a thread can store. */
    public static final String REPLY_TOO_LARGE = "ReplyTooLarge";
    /** The reply reached its token limit in the middle of a call. */
    public static final String CALL_CUT = "CallCut";
    /** The reply cannot be read. */
    public static final String MALFORMED_REPLY = "MalformedReply";
    /** The connection ended in the middle of the reply. */
    public static final String STREAM_CUT = "StreamCut";
    /** Nothing arrived for too long. */
    public static final String MODEL_SILENT = "ModelSilent";
    /** The model refuses to answer. */
    public static final String REFUSED = "Refused";
    /** The service rejects the request. */
    public static final String BAD_REQUEST = "BadRequest";
    /** The service rejects the key. */
    public static final String UNAUTHORIZED = "Unauthorized";
    /** The key does not permit this. */
    public static final String FORBIDDEN = "Forbidden";
    /** The account at the service has no credit. */
    public static final String NO_CREDIT = "NoCredit";
    /** There is no model of this name. */
    public static final String MODEL_NOT_FOUND = "ModelNotFound";
    /** The request is larger than the service accepts. */
    public static final String REQUEST_TOO_LARGE = "RequestTooLarge";
    /** The conversation does not fit into the model's context window. */
    public static final String CONTEXT_WINDOW_EXCEEDED = "ContextWindowExceeded";
    /** The service did not answer in time. */
    public static final String REQUEST_TIMED_OUT = "RequestTimedOut";
    /** The service reports a conflict with another request. */
    public static final String CONFLICT = "Conflict";
    /** The service's rate limit is reached. */
    public static final String RATE_LIMITED = "RateLimited";
    /** The service is overloaded. */
    public static final String OVERLOADED = "Overloaded";
    /** The service failed. */
    public static final String SERVER_ERROR = "ServerError";
    /** The service cannot be reached. */
    public static final String UNREACHABLE = "Unreachable";
    /** The provider is not configured on this worker. */
    public static final String NOT_CONFIGURED = "NotConfigured";
    /** The key for the service cannot be read at the moment. */
    public static final String KEY_UNAVAILABLE = "KeyUnavailable";
    /** The provider failed in a way that its interface does not allow. */
    public static final String PROVIDER_BUG = "ProviderBug";
    /** The worker currently lacks the memory for another reply. */
    public static final String WORKER_BUSY = "WorkerBusy";
    /** The service answered with a redirect, which is not followed: keys are never sent to another address. */
    public static final String REDIRECTED = "Redirected";

    // Activities of workers

    /** An activity failed, and nothing more specific is known. */
    public static final String ACTIVITY_FAILED = "ActivityFailed";
    /** An activity timed out, or its worker is gone. */
    public static final String TIMEOUT = "Timeout";
    /** An activity was cancelled. */
    public static final String CANCELLED = "Cancelled";
    /** The worker cannot read the history of its thread. */
    public static final String HISTORY_UNREADABLE = "HistoryUnreadable";
    /** The history is not that of a thread of Waymark. */
    public static final String FOREIGN_THREAD = "ForeignThread";
    /** The history of the previous run, which has the state, was deleted. */
    public static final String PREVIOUS_RUN_GONE = "PreviousRunGone";
    /** The state that was read is not the state that was announced. */
    public static final String STATE_DIFFERS = "StateDiffers";
    /** The thread has moved on and no longer needs this attempt. */
    public static final String SUPERSEDED = "Superseded";
    /** The worker is stopping, and another worker executes the activity. */
    public static final String GOES_ON_ELSEWHERE = "GoesOnElsewhere";
    /** The next announcement is not due yet. */
    public static final String NOT_DUE = "NotDue";
    /** This worker does not have the receiver of an announcement. */
    public static final String NO_RECEIVER = "NoReceiver";
    /** The receiver did not accept an announcement. */
    public static final String NOT_RECEIVED = "NotReceived";
    /** Earlier announcements to the receiver must be sent first. */
    public static final String IN_LINE = "InLine";

    // Keys and savers

    /** The thread's key was destroyed, so nobody can read the thread. */
    public static final String FORGOTTEN = "Forgotten";
    /** Payloads cannot be read or written with the configured encryption keys. */
    public static final String KEY_PROBLEM = "KeyProblem";
    /** The storage of threads' keys does not answer. */
    public static final String KEY_STORE_UNAVAILABLE = "KeyStoreUnavailable";
    /** The thread has no key of its own that could be destroyed. */
    public static final String NO_THREAD_KEY = "NoThreadKey";
    /** A saver's storage failed or did not answer in time. */
    public static final String SAVER_FAILED = "SaverFailed";
    /** The saved checkpoint belongs to another thread, or is newer than the one to be saved. */
    public static final String CHECKPOINT_SUPERSEDED = "CheckpointSuperseded";

    // Requests of clients

    /** The Temporal server does not answer, or refuses this client. */
    public static final String SERVER_UNREACHABLE = "ServerUnreachable";
    /** The thread would be lost with its server, which keeps everything in memory. */
    public static final String VOLATILE_STORE = "VolatileStore";
    /** Another request with other content has used the key or the id of this one. */
    public static final String KEY_REUSED = "KeyReused";
    /** No worker took the work in time. */
    public static final String NO_WORKER = "NoWorker";
    /** The wait reached its time limit. */
    public static final String TIMED_OUT = "TimedOut";
    /** The waiting Java thread was interrupted. */
    public static final String WAIT_INTERRUPTED = "WaitInterrupted";
    /** The turn waits for a person, but the caller requested its outcome. */
    public static final String INTERRUPTED = "Interrupted";
    /** The thread must be closed first. */
    public static final String STILL_OPEN = "StillOpen";

    // Requests over HTTP and MCP

    /** A bug in the server. */
    public static final String INTERNAL = "Internal";
    /** The request has no valid token. */
    public static final String UNAUTHENTICATED = "Unauthenticated";
    /** The caller does not have the role that the request requires. */
    public static final String ROLE_REQUIRED = "RoleRequired";
    /** The caller is not in the group to which the thread belongs. */
    public static final String NOT_IN_GROUP = "NotInGroup";
    /** A token is in the URL, where logs would keep it. */
    public static final String TOKEN_IN_URL = "TokenInUrl";
    /** The request's {@code Host} is not a loopback address. */
    public static final String FOREIGN_HOST = "ForeignHost";
    /** The request comes from a web page of another origin. */
    public static final String FOREIGN_ORIGIN = "ForeignOrigin";
    /** The resource does not have this method. */
    public static final String METHOD_NOT_ALLOWED = "MethodNotAllowed";
    /** The body has another media type. */
    public static final String UNSUPPORTED_MEDIA_TYPE = "UnsupportedMediaType";
    /** The request was not received in time. */
    public static final String TOO_SLOW = "TooSlow";
    /** The server processes too many large requests. */
    public static final String TOO_BUSY = "TooBusy";
    /** The caller sends more requests than it may. */
    public static final String TOO_MANY_REQUESTS = "TooManyRequests";
    /** The caller has more open streams than it may. */
    public static final String TOO_MANY_STREAMS = "TooManyStreams";
    /** The chat cannot branch at this message. */
    public static final String CANNOT_FORK = "CannotFork";
    /** The history of the turn was deleted. */
    public static final String GONE = "Gone";
    /** The state that a client sends back is too old. */
    public static final String REQUEST_STATE_EXPIRED = "RequestStateExpired";
    /** The state that a client sends back belongs to another request. */
    public static final String REQUEST_STATE_FOREIGN = "RequestStateForeign";

    // The command line

    /** A bug, or an unforeseen failure. */
    public static final String UNEXPECTED = "Unexpected";
    /** Another program uses the port. */
    public static final String PORT_IN_USE = "PortInUse";
    /** A downloaded file is not the expected one. */
    public static final String CHECKSUM_MISMATCH = "ChecksumMismatch";
    /** The collector of spans did not accept them. */
    public static final String COLLECTOR_FAILED = "CollectorFailed";
    /** The table of models is invalid. */
    public static final String MODELS_INVALID = "ModelsInvalid";
    /** A file of checks is invalid. */
    public static final String CHECKS_INVALID = "ChecksInvalid";
    /** A file of tool results is invalid. */
    public static final String RESULTS_INVALID = "ResultsInvalid";
    /** The thread is encrypted, but the exported file would not be. */
    public static final String ENCRYPTED = "Encrypted";
    /** The history contains a secret that cannot be masked. */
    public static final String SECRET_IN_HISTORY = "SecretInHistory";

    private ProblemType() {}
}
