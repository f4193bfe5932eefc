package dev.waymark.starter.render;

import dev.waymark.cli.CommandName;
import dev.waymark.client.connection.ValueText;
import dev.waymark.conversation.decision.CallSettlement;
import dev.waymark.conversation.decision.PendingItem;
import dev.waymark.conversation.value.Json;
import dev.waymark.display.Excerpt;
import dev.waymark.display.SafeText;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * A request that waits for a person, as text. If a call's arguments are too long to be shown completely, the text says
 * so and has no command to approve the call.
 */
public final class PendingText {
    /** Longer arguments and questions are cut, because a person would not read them at a terminal. */
    public static final int MOST_CHARACTERS = 8_000;

    private static final String DONE = CallSettlement.Outcome.DONE.wireName();

    private static final String QUOTED = "│ ";

    private final PendingItem item;
    private final Excerpt arguments;

    private PendingText(PendingItem item) {
        this.item = item;
        this.arguments = Excerpt.of(
                item.args().map(json -> SafeText.json(json.canonical())).orElse(""), MOST_CHARACTERS);
    }

    /** Returns a call with its arguments, which are cut if they are too long for a person to read. */
    public static String line(String callId, String tool, Json args) {
        Excerpt shown = Excerpt.of(SafeText.json(args.canonical()), MOST_CHARACTERS);
        return SafeText.line(callId) + "  " + SafeText.line(tool) + " " + shown.text();
    }

    public static PendingText of(PendingItem item) {
        return new PendingText(item);
    }

    /** Whether the arguments of the call are shown completely. */
    public boolean isWhole() {
        return !arguments.isCut();
    }

    /**
     * Returns the question. If an agent's question has several lines, each of them is marked, so that it cannot be
     * mistaken for a line of this program.
     */
    public List<String> question() {
        boolean isOfAgent = item.kind() == PendingItem.Kind.QUESTION;
        List<String> lines = item.request(call(), isOfAgent ? PendingText::excerpt : SafeText::line)
                .lines()
                .toList();
        return lines.size() == 1
                ? lines
                : lines.stream().map(line -> QUOTED + line).toList();
    }

    /** Returns what a person should also know, such as the rule that asks. */
    public List<String> notes() {
        return Stream.concat(
                        item.whyNoRerun().map(why -> "It can't be run again: " + why + ".").stream(),
                        item.notes().stream())
                .map(SafeText::line)
                .toList();
    }

    /** Returns the question and the notes. */
    public List<String> lines() {
        return Stream.concat(question().stream(), notes().stream()).toList();
    }

    private String call() {
        return SafeText.line(item.tool()) + (arguments.text().isEmpty() ? "" : " " + arguments.text());
    }

    private static String excerpt(String words) {
        String text = Excerpt.of(SafeText.lines(words), MOST_CHARACTERS).text().strip();
        return text.contains("\n") ? text : SafeText.line(text);
    }

    /** Returns the commands for the possible decisions. If the request is one of several, they name its call. */
    public List<String> commands(boolean isOneOfSeveral) {
        String thread = " " + ValueText.quoted(item.thread());
        String named = " --call " + ValueText.quoted(item.callId());
        String call = isOneOfSeveral ? named : "";
        String key = item.signers().isPresent() ? " --key FILE" : "";
        return switch (item.kind()) {
            case APPROVAL -> approvalCommands(thread, call, key);
            case UNKNOWN ->
                item.outcomes().stream()
                        .map(outcome -> "settle" + thread + named + " --outcome " + outcome
                                + (outcome.equals(DONE) ? " --result TEXT" : "") + key)
                        .flatMap(command -> lines(command).stream())
                        .toList();
            case QUESTION -> lines("answer" + thread + call + " TEXT");
        };
    }

    private List<String> approvalCommands(String thread, String call, String key) {
        if (!isWhole()) {
            List<String> lines = new ArrayList<>();
            lines.add("To approve it, read all of it, and use the digest given there: "
                    + CommandName.line("pending" + thread + " --json"));
            lines.addAll(lines("deny" + thread + call + key + " --reason TEXT"));
            return lines;
        }
        String shown =
                call + item.argsDigest().map(digest -> " --digest " + digest).orElse("") + key;
        return lines("approve" + thread + shown, "deny" + thread + shown + " --reason TEXT");
    }

    private static List<String> lines(String... arguments) {
        return Stream.of(arguments)
                .map(line -> SafeText.line(CommandName.line(line)))
                .toList();
    }
}
