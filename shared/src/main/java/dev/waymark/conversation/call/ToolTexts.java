package dev.waymark.conversation.call;

import dev.waymark.conversation.decision.CallApproval;
import dev.waymark.conversation.decision.CallSettlement;
import dev.waymark.conversation.value.CallVerdict;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Problem;
import java.time.Instant;
import java.util.Optional;
import java.util.stream.Collectors;

/** The messages that tell a model the outcome of a call. They are part of the checkpoint formats. */
public final class ToolTexts {
    /** Replaces the result of a call that a service refused to read. */
    public static final String WITHHELD = "withheld: the service refused to read it";

    /** Asks a model to continue a reply that reached its token limit. */
    public static final String GO_ON =
            "Your reply was cut off. Go on exactly where it ended, without repeating anything.";

    /** Asks a model that replied without text for a reply. */
    public static final String REPLY_WITH_TEXT = "Your reply had no text. Reply now.";

    /** The name of the tool that finds deferred tools. */
    public static final String FIND_TOOL = "find_tools";

    private static final int LONGEST_ID = 200;

    /** How many tools are listed if a model calls one that does not exist. Deferred tools are the last ones. */
    private static final int MOST_NAMES = 200;

    private ToolTexts() {}

    /** Tells the model that its call ran with arguments that a person changed. */
    static String argsChanged(Json args) {
        return "A person changed the arguments to " + args.canonical() + ".";
    }

    public static String failure(String message) {
        return "Tool error: " + message;
    }

    public static String invalidInput(String tool, String reason) {
        return "Invalid input for tool \"" + tool + "\": " + reason;
    }

    public static String invalidOutput(String tool, String reason) {
        return "Tool \"" + tool + "\" returned invalid output: " + reason;
    }

    /** Tells a model that its final reply does not match the schema. */
    public static String misfit(String reason) {
        return "Your reply does not fit the JSON Schema: " + reason
                + ". Reply once more, with one JSON value that fits it and nothing else.";
    }

    /** The result of a call that a checkpoint shows as denied. */
    public static String denied(String tool, Optional<String> reason) {
        return deniedByUser(notExecuted(tool), reason);
    }

    public static String denied(Call call, Optional<String> reason) {
        return deniedByUser(notExecuted(call), reason);
    }

    private static String deniedByUser(String notExecuted, Optional<String> reason) {
        return "Tool execution denied by user. " + notExecuted
                + reason.map(words -> " Reason: " + words).orElse("");
    }

    public static String deniedByNobody(Call call) {
        return "Tool execution denied. No approval callback provided. " + notExecuted(call);
    }

    public static String deniedByTime(Call call) {
        return "Tool execution denied. Nobody decided in time. " + notExecuted(call);
    }

    /** The result of a question that nobody answered. */
    public static String unanswered() {
        return "Nobody answered in time.";
    }

    /**
     * The result of a call that the agent's rules deny. If a person approved the call, it says that the rules prevail.
     */
    public static String deniedByRules(Call call) {
        String person = call.approval()
                .filter(CallApproval::approved)
                .map(decision -> " A person had approved it, but the rules come first.")
                .orElse("");
        return "Tool execution denied by the agent's rules. " + notExecuted(call) + person
                + call.verdict()
                        .flatMap(CallVerdict::reason)
                        .map(words -> " Reason: " + words)
                        .orElse("");
    }

    private static String notExecuted(String tool) {
        return "The " + tool + " tool was not executed.";
    }

    private static String notExecuted(Call call) {
        boolean isToRunAgain = call.fromFile().isPresent()
                && call.settlement()
                        .filter(settled -> settled.outcome() == CallSettlement.Outcome.RERUN)
                        .isPresent();
        return call.mayHaveRunBefore() || isToRunAgain
                ? "The " + call.tool() + " tool was not executed here." + ranBefore()
                : notExecuted(call.tool());
    }

    /** A sentence for the end of a call's result, if the call comes from a file that does not say whether it ran. */
    public static String ranBefore() {
        return " The call comes from a file, and may have run before; whether it took effect is not known.";
    }

    public static String replay(String callId, String result) {
        return "[idempotent replay of " + callId + "]: " + result;
    }

    /** A sentence for the end of a call's result, if the call may have taken effect. */
    public static String claimed(Instant at) {
        return " The call had been claimed for execution at " + at + "; whether it took effect is not known.";
    }

    public static String done(Optional<String> by) {
        return "Done, as settled by " + by.orElse("a person") + ".";
    }

    /** The result of a call that a person settled as not done. */
    public static String notDone(Optional<String> by) {
        return failure("the call did not take effect, as settled by " + by.orElse("a person")
                + ". Its outcome had been unknown. It does not run again by itself.");
    }

    /** The result of a subagent that did not complete its task, with its last message. */
    public static String subagent(String agent, String status, Optional<Problem> problem, String text) {
        String why = problem.map(Problem::message)
                .filter(words -> !words.isBlank())
                .map(words -> ": " + words)
                .orElse("");
        return failure("the subagent " + agent + " ended as " + status + why + (text.isBlank() ? "" : "\n" + text));
    }

    /** What was observed of a call if its tool's check found no effect. */
    public static String foundNoEffect() {
        return "a check found that it had not taken effect";
    }

    public static String verified() {
        return "Done: a check found that the call had taken effect.";
    }

    /** The result of a call with an unknown outcome: a JSON object, in exactly this form. */
    public static String durability(
            String tool, String callId, Optional<Instant> claimedAt, Optional<String> evidence) {
        return durabilityError(
                tool,
                callId,
                " The tool is not declared 'safeToRetry: true', so the framework will not automatically re-invoke it."
                        + " Decide recovery based on observable external state — e.g., check whether the side effect"
                        + " already occurred. If this tool is a pure read with no side effects, add"
                        + " `safeToRetry: true` to its declaration."
                        + claimedAt.map(ToolTexts::claimed).orElse("")
                        + evidence.map(seen -> " What was seen of it: " + seen).orElse(""));
    }

    /** The result for a call without a result in a checkpoint, if the call is safe to repeat. */
    public static String durabilityOfHarmless(String tool, String callId) {
        return durabilityError(
                tool,
                callId,
                " The tool has no side effects, or is declared 'safeToRetry: true', but the conversation has gone on"
                        + " since, so the framework did not re-invoke it. Call it again if its result is still needed.");
    }

    /** The result for a call without a result in a checkpoint, if the reader does not know the tool. */
    public static String durabilityWithoutAgent(String tool, String callId) {
        return durabilityError(
                tool,
                callId,
                " Whether the tool is declared 'safeToRetry: true' is not known here, because only the recorded"
                        + " conversation was read, without its agent.");
    }

    private static String durabilityError(String tool, String callId, String remedy) {
        String words = "Tool '" + tool + "' (call " + callId
                + ") was requested but its execution did not complete durably before the process ended." + remedy;
        return "{\"error\":" + quoted(words) + ",\"kind\":\"tool-durability-error\",\"toolName\":" + quoted(tool)
                + ",\"toolCallId\":" + quoted(callId) + "}";
    }

    /**
     * Whether this is a result from {@link #durability}, {@link #durabilityOfHarmless} or
     * {@link #durabilityWithoutAgent}.
     */
    public static boolean isDurability(String text) {
        return text.startsWith("{\"error\":\"") && text.contains("\",\"kind\":\"tool-durability-error\",");
    }

    /** Whether a result reads like a failure, for formats that do not mark failures. */
    public static boolean isFailure(String text) {
        return isDurability(text)
                || text.startsWith(failure(""))
                || text.startsWith("Tool execution denied")
                || text.startsWith("Invalid input for tool \"")
                || (text.startsWith("Tool \"")
                        && (text.contains("\" not found. Available tools: ")
                                || text.contains("\" returned invalid output: ")));
    }

    /** A failure as a JSON object. */
    public static String error(String text) {
        return "{\"error\":" + quoted(text) + "}";
    }

    /** A compact JSON string, with only the necessary escapes. */
    private static String quoted(String text) {
        StringBuilder out = new StringBuilder("\"");
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '"' || c == '\\') {
                out.append('\\').append(c);
            } else if (c < ' ') {
                out.append(String.format("\\u%04x", (int) c));
            } else {
                out.append(c);
            }
        }
        return out.append('"').toString();
    }

    public static String tooMany(int limit) {
        return failure("too many calls in one reply, of at most " + limit);
    }

    /** The answer about the rest of a result, if the thread never had the call. */
    public static String noSuchCall(String callId) {
        return "this conversation has no call " + shown(callId);
    }

    public static String noResultYet(String callId) {
        return "the call " + shown(callId) + " has no result yet";
    }

    public static String shownWhole(String callId) {
        return "the result of the call " + shown(callId) + " was not cut: all of it is in the conversation";
    }

    public static String notKept(String callId) {
        return "the whole result of the call " + shown(callId)
                + " is not kept any more, only what you were shown of it."
                + " Call the tool again if you need the rest and a second call does no harm.";
    }

    private static String shown(String callId) {
        return Json.canonical(Problem.cut(callId, LONGEST_ID));
    }

    public static String notFound(String tool, AgentPolicy policy) {
        String available = policy.tools().keySet().stream().limit(MOST_NAMES).collect(Collectors.joining(", "));
        int others = policy.tools().size() - MOST_NAMES;
        return "Tool \"" + tool + "\" not found. Available tools: " + (available.isEmpty() ? "none" : available)
                + (others > 0 ? " and " + others + " others" : "");
    }
}
