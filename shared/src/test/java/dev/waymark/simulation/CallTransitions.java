package dev.waymark.simulation;

import dev.waymark.conversation.call.Call;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The life of a call: the statuses that may follow each status, and what brings each transition about. It is not
 * enforced at run time. Simulations compare it with the transitions that happen, and {@code docs/call-life.md} is
 * printed from it.
 */
final class CallTransitions {
    enum Cause {
        MODEL,
        WORKFLOW,
        RULES,
        WORKER,
        SUBAGENT,
        PERSON,
        TIME,
        IDENTICAL_CALL,
        END_OF_TURN,
        RESET;

        String words() {
            return name().toLowerCase(Locale.ROOT).replace('_', ' ');
        }
    }

    /** A row of the table: a status, what it means, and what may follow. {@code new} is the beginning of a call. */
    record Row(String status, String meaning, Next... next) {}

    /**
     * @param rare causes that need so many accidents at once that a simulation may miss them
     */
    record Next(Call.Status status, List<Cause> causes, List<Cause> rare) {
        Next rarely(Cause... causes) {
            return new Next(status, this.causes, List.of(causes));
        }
    }

    static final List<Row> TABLE = List.of(
            new Row(
                    "new",
                    "The model made the call.",
                    to(Call.Status.ISSUED, Cause.MODEL),
                    to(Call.Status.HELD, Cause.MODEL),
                    to(Call.Status.AWAITING, Cause.MODEL),
                    to(Call.Status.ASKING, Cause.MODEL),
                    to(Call.Status.COMPLETED, Cause.MODEL),
                    to(Call.Status.FAILED, Cause.MODEL),
                    to(Call.Status.DENIED, Cause.MODEL),
                    to(Call.Status.LOST).rarely(Cause.MODEL),
                    to(Call.Status.UNKNOWN).rarely(Cause.MODEL),
                    to(Call.Status.UNSETTLED).rarely(Cause.MODEL),
                    to(Call.Status.DOUBTED).rarely(Cause.MODEL)),
            new Row(
                    "held",
                    "An identical call of the same reply comes first.",
                    to(Call.Status.ISSUED, Cause.IDENTICAL_CALL).rarely(Cause.RESET),
                    to(Call.Status.AWAITING, Cause.IDENTICAL_CALL).rarely(Cause.RESET),
                    to(Call.Status.COMPLETED, Cause.IDENTICAL_CALL),
                    to(Call.Status.DENIED, Cause.IDENTICAL_CALL).rarely(Cause.RESET),
                    to(Call.Status.DOUBTED).rarely(Cause.IDENTICAL_CALL),
                    to(Call.Status.LOST, Cause.IDENTICAL_CALL).rarely(Cause.RESET),
                    to(Call.Status.UNKNOWN).rarely(Cause.IDENTICAL_CALL, Cause.RESET),
                    to(Call.Status.UNSETTLED).rarely(Cause.IDENTICAL_CALL, Cause.RESET),
                    to(Call.Status.CANCELLED, Cause.END_OF_TURN)),
            new Row(
                    "judging",
                    "The agent's rules are asked whether it may run.",
                    to(Call.Status.ISSUED, Cause.RULES),
                    to(Call.Status.AWAITING, Cause.RULES),
                    to(Call.Status.DENIED, Cause.RULES),
                    to(Call.Status.COMPLETED, Cause.RULES),
                    to(Call.Status.FAILED).rarely(Cause.RULES),
                    to(Call.Status.DOUBTED).rarely(Cause.RULES, Cause.RESET),
                    to(Call.Status.UNKNOWN).rarely(Cause.RULES, Cause.RESET),
                    to(Call.Status.UNSETTLED).rarely(Cause.RULES, Cause.RESET),
                    to(Call.Status.LOST).rarely(Cause.RULES, Cause.RESET),
                    to(Call.Status.CANCELLED, Cause.END_OF_TURN)),
            new Row(
                    "awaiting",
                    "A person has to approve it: its tool requires that, it comes from a file, its grant is over, or its tool has changed.",
                    to(Call.Status.ISSUED, Cause.PERSON),
                    to(Call.Status.HELD, Cause.PERSON),
                    to(Call.Status.COMPLETED, Cause.PERSON),
                    to(Call.Status.DENIED, Cause.PERSON, Cause.TIME),
                    to(Call.Status.FAILED).rarely(Cause.PERSON),
                    to(Call.Status.LOST).rarely(Cause.PERSON, Cause.RESET),
                    to(Call.Status.UNKNOWN).rarely(Cause.PERSON, Cause.RESET),
                    to(Call.Status.UNSETTLED).rarely(Cause.PERSON, Cause.RESET),
                    to(Call.Status.DOUBTED).rarely(Cause.PERSON),
                    to(Call.Status.CANCELLED, Cause.END_OF_TURN)),
            new Row(
                    "issued",
                    "It is ready to run, now or at a set time.",
                    to(Call.Status.JUDGING, Cause.WORKFLOW),
                    to(Call.Status.DISPATCHED, Cause.WORKFLOW),
                    to(Call.Status.DELEGATED, Cause.WORKFLOW),
                    to(Call.Status.AWAITING).rarely(Cause.PERSON, Cause.RULES, Cause.WORKER),
                    to(Call.Status.UNKNOWN, Cause.RESET),
                    to(Call.Status.UNSETTLED, Cause.RESET),
                    to(Call.Status.LOST, Cause.RESET),
                    to(Call.Status.CANCELLED, Cause.END_OF_TURN)),
            new Row(
                    "dispatched",
                    "A worker has it. If it has to be claimed, it has not run yet.",
                    to(Call.Status.CLAIMED, Cause.WORKER, Cause.RESET),
                    to(Call.Status.REMOTE, Cause.WORKER),
                    to(Call.Status.COMPLETED, Cause.WORKER),
                    to(Call.Status.FAILED, Cause.WORKER),
                    to(Call.Status.ASKING, Cause.WORKER),
                    to(Call.Status.ISSUED, Cause.WORKER),
                    to(Call.Status.AWAITING).rarely(Cause.PERSON, Cause.RULES, Cause.WORKER),
                    to(Call.Status.UNKNOWN, Cause.RESET),
                    to(Call.Status.UNSETTLED).rarely(Cause.RESET),
                    to(Call.Status.LOST, Cause.RESET),
                    to(Call.Status.CANCELLED, Cause.END_OF_TURN)),
            new Row(
                    "claimed",
                    "One execution has permission to take effect.",
                    to(Call.Status.REMOTE, Cause.WORKER),
                    to(Call.Status.COMPLETED, Cause.WORKER),
                    to(Call.Status.FAILED, Cause.WORKER),
                    to(Call.Status.ASKING, Cause.WORKER),
                    to(Call.Status.ISSUED, Cause.WORKER),
                    to(Call.Status.AWAITING).rarely(Cause.WORKER),
                    to(Call.Status.UNKNOWN, Cause.WORKER).rarely(Cause.RESET),
                    to(Call.Status.DOUBTED, Cause.WORKER),
                    to(Call.Status.UNSETTLED, Cause.WORKER).rarely(Cause.RESET),
                    to(Call.Status.LOST, Cause.WORKER).rarely(Cause.RESET),
                    to(Call.Status.CANCELLED, Cause.END_OF_TURN)),
            new Row(
                    "remote",
                    "The tool's server works on it as a task.",
                    to(Call.Status.FOLLOWING, Cause.WORKFLOW),
                    to(Call.Status.CANCELLED, Cause.END_OF_TURN)),
            new Row(
                    "following",
                    "A worker asks the server for the status of the task.",
                    to(Call.Status.COMPLETED, Cause.WORKER),
                    to(Call.Status.FAILED, Cause.WORKER),
                    to(Call.Status.ASKING, Cause.WORKER),
                    to(Call.Status.REMOTE, Cause.WORKER),
                    to(Call.Status.UNKNOWN).rarely(Cause.WORKER),
                    to(Call.Status.DOUBTED).rarely(Cause.WORKER),
                    to(Call.Status.UNSETTLED).rarely(Cause.WORKER),
                    to(Call.Status.LOST).rarely(Cause.WORKER),
                    to(Call.Status.CANCELLED, Cause.END_OF_TURN)),
            new Row(
                    "delegated",
                    "A subagent's thread has it.",
                    to(Call.Status.COMPLETED, Cause.SUBAGENT),
                    to(Call.Status.FAILED, Cause.SUBAGENT),
                    to(Call.Status.LOST, Cause.SUBAGENT),
                    to(Call.Status.CANCELLED, Cause.END_OF_TURN)),
            new Row(
                    "unknown",
                    "The outcome of its execution is unknown; it may still run.",
                    to(Call.Status.DOUBTED, Cause.TIME),
                    to(Call.Status.FAILED, Cause.TIME).rarely(Cause.WORKER),
                    to(Call.Status.COMPLETED, Cause.WORKER),
                    to(Call.Status.ASKING).rarely(Cause.WORKER),
                    to(Call.Status.ISSUED).rarely(Cause.WORKER),
                    to(Call.Status.HELD).rarely(Cause.WORKER),
                    to(Call.Status.AWAITING).rarely(Cause.WORKER),
                    to(Call.Status.LOST, Cause.TIME).rarely(Cause.RESET),
                    to(Call.Status.CANCELLED, Cause.END_OF_TURN)),
            new Row(
                    "doubted",
                    "No execution of it is running; whether it took effect must be determined.",
                    to(Call.Status.VERIFYING, Cause.WORKFLOW),
                    to(Call.Status.COMPLETED).rarely(Cause.WORKER),
                    to(Call.Status.FAILED).rarely(Cause.WORKER),
                    to(Call.Status.ASKING).rarely(Cause.WORKER),
                    to(Call.Status.ISSUED).rarely(Cause.WORKER),
                    to(Call.Status.HELD).rarely(Cause.WORKER),
                    to(Call.Status.AWAITING).rarely(Cause.WORKER),
                    to(Call.Status.UNKNOWN).rarely(Cause.RESET),
                    to(Call.Status.CANCELLED, Cause.END_OF_TURN)),
            new Row(
                    "verifying",
                    "Its `verify` runs.",
                    to(Call.Status.COMPLETED, Cause.WORKER),
                    to(Call.Status.FAILED).rarely(Cause.WORKER),
                    to(Call.Status.ASKING).rarely(Cause.WORKER),
                    to(Call.Status.ISSUED, Cause.WORKER),
                    to(Call.Status.HELD).rarely(Cause.WORKER),
                    to(Call.Status.AWAITING).rarely(Cause.WORKER),
                    to(Call.Status.UNKNOWN).rarely(Cause.WORKER),
                    to(Call.Status.DOUBTED).rarely(Cause.WORKER),
                    to(Call.Status.UNSETTLED, Cause.WORKER),
                    to(Call.Status.LOST, Cause.WORKER),
                    to(Call.Status.DENIED).rarely(Cause.WORKER),
                    to(Call.Status.CANCELLED, Cause.END_OF_TURN)),
            new Row(
                    "unsettled",
                    "A person must decide whether it took effect.",
                    to(Call.Status.COMPLETED, Cause.PERSON).rarely(Cause.WORKER),
                    to(Call.Status.ISSUED, Cause.PERSON).rarely(Cause.WORKER),
                    to(Call.Status.HELD).rarely(Cause.PERSON, Cause.WORKER),
                    to(Call.Status.AWAITING).rarely(Cause.PERSON, Cause.WORKER),
                    to(Call.Status.ASKING).rarely(Cause.WORKER),
                    to(Call.Status.FAILED, Cause.PERSON).rarely(Cause.WORKER),
                    to(Call.Status.LOST, Cause.PERSON, Cause.TIME).rarely(Cause.RESET),
                    to(Call.Status.DENIED).rarely(Cause.PERSON),
                    to(Call.Status.UNKNOWN, Cause.PERSON).rarely(Cause.RESET),
                    to(Call.Status.CANCELLED, Cause.END_OF_TURN)),
            new Row(
                    "asking",
                    "Its question waits for an answer.",
                    to(Call.Status.COMPLETED, Cause.PERSON),
                    to(Call.Status.REMOTE, Cause.PERSON, Cause.TIME),
                    to(Call.Status.ISSUED, Cause.PERSON, Cause.TIME),
                    to(Call.Status.AWAITING).rarely(Cause.PERSON, Cause.TIME),
                    to(Call.Status.FAILED, Cause.TIME),
                    to(Call.Status.UNKNOWN).rarely(Cause.PERSON, Cause.TIME),
                    to(Call.Status.DOUBTED).rarely(Cause.PERSON, Cause.TIME),
                    to(Call.Status.UNSETTLED).rarely(Cause.PERSON, Cause.TIME),
                    to(Call.Status.LOST).rarely(Cause.PERSON, Cause.TIME),
                    to(Call.Status.CANCELLED, Cause.END_OF_TURN)),
            new Row("completed", "It has a result."),
            new Row(
                    "failed",
                    "It has an error as its result, or a person said that it did not take effect.",
                    to(Call.Status.COMPLETED).rarely(Cause.WORKER),
                    to(Call.Status.UNKNOWN).rarely(Cause.RESET),
                    to(Call.Status.LOST).rarely(Cause.RESET)),
            new Row(
                    "denied",
                    "A person, a rule or the agent file refused it.",
                    to(Call.Status.UNKNOWN).rarely(Cause.RESET),
                    to(Call.Status.UNSETTLED).rarely(Cause.RESET),
                    to(Call.Status.LOST).rarely(Cause.RESET)),
            new Row("cancelled", "Its turn ended first."),
            new Row(
                    "lost",
                    "It is unknown whether it took effect, and the model was told so.",
                    to(Call.Status.COMPLETED, Cause.WORKER),
                    to(Call.Status.FAILED).rarely(Cause.WORKER)));

    private CallTransitions() {}

    private static Next to(Call.Status status, Cause... causes) {
        return new Next(status, List.of(causes), List.of());
    }

    /** All transitions, such as {@code issued -> lost by reset}. */
    static Stream<String> all() {
        return Stream.concat(
                frequent(),
                TABLE.stream()
                        .flatMap(row -> Stream.of(row.next())
                                .flatMap(next -> next.rare().stream()
                                        .map(cause -> named(row.status(), name(next.status()), cause)))));
    }

    /** The transitions that every long simulation must have. */
    static Stream<String> frequent() {
        return TABLE.stream()
                .flatMap(row -> Stream.of(row.next())
                        .flatMap(next ->
                                next.causes().stream().map(cause -> named(row.status(), name(next.status()), cause))));
    }

    static String named(String from, String to, Cause cause) {
        return from + " -> " + to + " by " + cause.words();
    }

    static String name(Call.Status status) {
        return status.name().toLowerCase(Locale.ROOT);
    }

    /** The rows of the page's table. */
    static String printed() {
        StringBuilder text = new StringBuilder();
        for (Row row : TABLE) {
            String next = Stream.of(row.next()).map(CallTransitions::printed).collect(Collectors.joining("; "));
            text.append("| `")
                    .append(row.status())
                    .append("` | ")
                    .append(row.meaning())
                    .append(" |");
            text.append(next.isEmpty() ? " |\n" : " " + next + " |\n");
        }
        return text.toString();
    }

    private static String printed(Next next) {
        List<String> causes = new ArrayList<>();
        next.causes().forEach(cause -> causes.add(cause.words()));
        next.rare().forEach(cause -> causes.add(cause.words() + "?"));
        return "`" + name(next.status()) + "` by " + String.join(", ", causes);
    }
}
