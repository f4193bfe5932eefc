package dev.waymark.worker.workflow;

import dev.waymark.contract.WireNames;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.decision.CallSettlement;
import dev.waymark.conversation.decision.PendingItem;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Role;
import dev.waymark.conversation.message.Transcript;
import dev.waymark.conversation.state.Workspace;
import dev.waymark.conversation.value.Json;
import dev.waymark.display.Excerpt;
import dev.waymark.display.SafeText;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Shows the run as a Markdown card in the Web UI: its open requests, with the signals that answer, approve or settle
 * them; running calls; todos. Text from users, models and tools is shown literally: none of it becomes Markdown, a
 * link, or another card.
 */
final class WebUiCard {
    /** Characters with a meaning in Markdown, or in MathJax, which the Web UI also supports. */
    private static final String MARKDOWN = "\\`*_{}[]()#+-.!:|<>~^&$";

    private static final int NEWEST_MESSAGES = 4;
    private static final int MOST_CALLS = 10;
    private static final int MOST_THINGS_TO_DO = 20;
    private static final int MOST_CHARACTERS = 400;

    private static final int MOST_CHARACTERS_OF_A_QUESTION = 1_000;

    /** Longer arguments are cut, and then no approval is offered. */
    private static final int MOST_CHARACTERS_TO_DECIDE_ON = 4_000;

    private final String thread;
    /**
     * The lines of the newest messages, by message id. Cached, since a card is drawn at every step, and again on
     * replay.
     */
    private final Map<String, String> lines = new LinkedHashMap<>() {
        @Override
        protected boolean removeEldestEntry(Map.Entry<String, String> eldest) {
            return size() > NEWEST_MESSAGES;
        }
    };

    WebUiCard(String thread) {
        this.thread = thread;
    }

    String of(Conversation state) {
        Sheet sheet = new Sheet(footer(state));
        sheet.add("**" + headline(state) + "**\n\n");
        addWaiting(state, sheet);
        state.turn().problem().ifPresent(problem -> sheet.add("> " + prose(problem.message()) + "\n\n"));
        state.openCalls().stream()
                .filter(call -> call.claim().isPresent() && !call.waitsForPerson())
                .limit(MOST_CALLS)
                .forEach(call -> sheet.add(running(call)));
        state.openCalls().stream()
                .filter(call -> call.status() == Call.Status.DELEGATED)
                .limit(MOST_CALLS)
                .forEach(call -> sheet.add("- Running subagent: " + code(call.tool()) + ", in thread "
                        + code(WireNames.subagentThread(thread, call.id())) + "\n"));
        addWorkspace(state.workspace(), sheet);
        addMessages(state, sheet);
        return sheet.toString();
    }

    private String footer(Conversation state) {
        StringBuilder footer = new StringBuilder("\nAgent ").append(code(state.agent()));
        footer.append(" · turn ").append(state.turn().number());
        footer.append(" · ")
                .append(state.turn().iterations())
                .append(state.turn().iterations() == 1 ? " model call · " : " model calls · ");
        footer.append(state.usage().inputTokens()).append(" tokens in, ");
        footer.append(state.usage().outputTokens()).append(" out");
        state.cost().ifPresent(cost -> footer.append(" · ").append(cost).append(" USD"));
        footer.append("\n\n");
        if (!state.queue().isEmpty()) {
            footer.append(state.queue().size()).append(" messages queued\n\n");
        }
        if (state.ignored().count() > 0) {
            footer.append(state.ignored().count()).append(" signals ignored, see query `status`\n\n");
        }
        return footer.append(code("./waymark show " + thread)).append("\n").toString();
    }

    private static String headline(Conversation state) {
        return switch (state.phase()) {
            case STARTING -> "Looking for its agent";
            case THINKING ->
                state.isSummarizing() ? "The model is summarizing the conversation" : "The model is thinking";
            case ACTING -> "Running tools";
            case WAITING -> waiting(state);
            case IDLE -> "Idle, last turn: " + state.turn().status().wireName();
        };
    }

    private static String waiting(Conversation state) {
        Set<PendingItem.Kind> kinds = EnumSet.noneOf(PendingItem.Kind.class);
        state.asks().forEach(ask -> kinds.add(ask.kind()));
        if (kinds.equals(EnumSet.of(PendingItem.Kind.QUESTION))) {
            return "Waiting for an answer";
        }
        return kinds.equals(EnumSet.of(PendingItem.Kind.APPROVAL)) ? "Waiting for approval" : "Waiting for people";
    }

    private void addWaiting(Conversation state, Sheet sheet) {
        List<PendingItem> questions = asks(state, PendingItem.Kind.QUESTION);
        questions.stream().limit(MOST_CALLS).forEach(ask -> {
            String which = questions.size() > 1 ? " (" + code(ask.callId()) + ")" : "";
            sheet.add("> " + request(ask, MOST_CHARACTERS_OF_A_QUESTION) + which + "\n\n");
        });
        if (!questions.isEmpty()) {
            sheet.add("To answer: " + signal("`answer`", "with the JSON input " + code(example(questions))));
        }
        addApprovals(asks(state, PendingItem.Kind.APPROVAL), sheet);
        addUnknown(asks(state, PendingItem.Kind.UNKNOWN), sheet);
    }

    /** A call whose arguments are cut cannot be decided here, so no input for a decision is shown. */
    private void addApprovals(List<PendingItem> asks, Sheet sheet) {
        boolean isAnyWhole = false;
        for (PendingItem ask : asks.subList(0, Math.min(MOST_CALLS, asks.size()))) {
            Excerpt arguments = arguments(ask);
            String input =
                    json("callId", ask.callId(), "argsDigest", ask.argsDigest().orElse(""));
            sheet.add("> " + request(ask, MOST_CHARACTERS) + "\n\n"
                    + (arguments.isCut()
                            ? "It can't be decided here, because the call is cut. To see all of it, run "
                                    + code("./waymark pending " + thread + " --json")
                            : fenced(SafeText.line(input)))
                    + "\n\n");
            isAnyWhole |= !arguments.isCut();
        }
        if (isAnyWhole) {
            sheet.add("To decide: " + signal("`approve` or `deny`", "with the JSON input below the call"));
        }
    }

    private static String request(PendingItem ask, int most) {
        String call = code(ask.tool()) + " " + fenced(arguments(ask).text());
        return ask.request(call, words -> prose(words, most))
                + ask.notes().stream().map(words -> " " + prose(words)).collect(Collectors.joining());
    }

    private void addUnknown(List<PendingItem> asks, Sheet sheet) {
        for (PendingItem ask : asks.subList(0, Math.min(MOST_CALLS, asks.size()))) {
            String input = json("callId", ask.callId(), "outcome", "done", "result", "what it returned");
            sheet.add("> " + request(ask, MOST_CHARACTERS) + "\n\n"
                    + code(input) + "\n\nInstead of `done`, without a result: " + otherOutcomes(ask) + "."
                    + ask.whyNoRerun()
                            .map(why -> " It can't be run again: " + prose(why) + ".")
                            .orElse("")
                    + "\n\n");
        }
        if (!asks.isEmpty()) {
            sheet.add("To decide: "
                    + signal("`settle`", "with the JSON input below the call. A `note` in it is kept with the call"));
        }
    }

    private static String otherOutcomes(PendingItem ask) {
        return ask.outcomes().stream()
                .filter(outcome -> !outcome.equals(CallSettlement.Outcome.DONE.wireName()))
                .map(outcome -> "`" + outcome + "`")
                .collect(Collectors.joining(" or "));
    }

    /**
     * Explains how to send a signal in the Web UI. On the page that shows the card, the Web UI reloads when the key R
     * is pressed, even while the user types into a dialog.
     */
    private static String signal(String names, String with) {
        return "open *History*, then *More Actions → Send a Signal →* " + names + ", " + with
                + ". On this page, the dialog does not accept the letter r.\n\n";
    }

    private static List<PendingItem> asks(Conversation state, PendingItem.Kind kind) {
        return state.asks().stream().filter(ask -> ask.kind() == kind).toList();
    }

    private static String example(List<PendingItem> questions) {
        return questions.size() == 1
                ? "\"your answer\""
                : json("callId", questions.get(0).callId(), "answer", "your answer");
    }

    private static String json(String... namesAndTexts) {
        List<String> fields = new ArrayList<>();
        for (int i = 0; i < namesAndTexts.length; i += 2) {
            fields.add(Json.canonical(namesAndTexts[i]) + ": " + Json.canonical(namesAndTexts[i + 1]));
        }
        return "{" + String.join(", ", fields) + "}";
    }

    private static Excerpt arguments(PendingItem ask) {
        return Excerpt.of(
                SafeText.json(ask.args().orElse(Json.EMPTY_OBJECT).canonical()), MOST_CHARACTERS_TO_DECIDE_ON);
    }

    private static String shown(Call call) {
        return code(call.tool()) + " "
                + fenced(Excerpt.of(SafeText.json(call.args().canonical()), MOST_CHARACTERS)
                        .text());
    }

    private static String running(Call call) {
        String what = switch (call.status()) {
            case CLAIMED -> "In flight: ";
            case REMOTE, FOLLOWING -> "At its server: ";
            case UNKNOWN -> "Outcome unknown, may still be running: ";
            case DOUBTED, VERIFYING -> "Outcome unknown, being determined: ";
            case ISSUED,
                    HELD,
                    JUDGING,
                    AWAITING,
                    DISPATCHED,
                    DELEGATED,
                    UNSETTLED,
                    ASKING,
                    COMPLETED,
                    FAILED,
                    DENIED,
                    CANCELLED,
                    LOST -> "To run again: ";
        };
        return "- " + what + shown(call) + " (" + code(call.id()) + "), claimed at "
                + call.claim().map(Call.Claim::at).orElseThrow() + "\n";
    }

    private static void addWorkspace(Workspace workspace, Sheet sheet) {
        workspace.plan().ifPresent(plan -> {
            sheet.add("\nPlan: " + prose(plan.goal()) + "\n\n");
            plan.steps().stream()
                    .limit(MOST_THINGS_TO_DO)
                    .forEach(step -> sheet.add(toDo(step.status(), step.description())));
        });
        if (!workspace.todos().isEmpty()) {
            sheet.add("\nTo do:\n\n");
            workspace.todos().stream()
                    .limit(MOST_THINGS_TO_DO)
                    .forEach(todo -> sheet.add(toDo(todo.status(), todo.content())));
        }
    }

    private static String toDo(String status, String words) {
        return "- " + prose(status) + ": " + prose(words) + "\n";
    }

    private void addMessages(Conversation state, Sheet sheet) {
        List<Transcript.Entry> newest = state.transcript().entries().tail(NEWEST_MESSAGES);
        if (!newest.isEmpty()) {
            // Without text in between, Markdown would join this list with the calls or todos before it.
            sheet.add("\nLast messages:\n\n");
        }
        newest.forEach(entry -> sheet.add(lines.computeIfAbsent(entry.id(), id -> line(entry.message()))));
    }

    private static String line(Message message) {
        // Shown as code, because the Web UI makes quotation marks in prose typographic.
        String words = message.toolResults().isEmpty() ? prose(words(message)) : code(words(message));
        return "- " + speaker(message) + ": " + words + "\n";
    }

    private static String speaker(Message message) {
        if (!message.toolResults().isEmpty()) {
            return "tools";
        }
        return message.role() == Role.USER ? "user" : "agent";
    }

    private static String words(Message message) {
        StringBuilder words = new StringBuilder();
        for (Part part : message.content()) {
            if (part instanceof Part.Text text) {
                words.append(text.text());
            } else if (part instanceof Part.ToolUse use) {
                words.append(" → ").append(use.name());
            } else if (part instanceof Part.ToolResult result) {
                words.append(" ").append(result.content());
            }
        }
        return words.toString();
    }

    /** Foreign text on one line, with Markdown escaped. */
    private static String prose(String text) {
        return prose(text, MOST_CHARACTERS);
    }

    private static String prose(String text, int most) {
        String line = Excerpt.line(text, most).text();
        StringBuilder escaped = new StringBuilder(line.length() + 16);
        for (int i = 0; i < line.length(); i++) {
            char c = line.charAt(i);
            if (MARKDOWN.indexOf(c) >= 0) {
                escaped.append('\\');
            }
            escaped.append(c);
        }
        return escaped.toString();
    }

    /** The beginning of foreign text, as code. */
    private static String code(String text) {
        return fenced(Excerpt.line(text, MOST_CHARACTERS).text());
    }

    /** Inline code, delimited by more backticks than it contains in a row. */
    private static String fenced(String line) {
        if (line.isEmpty()) {
            return "";
        }
        int most = 0;
        int row = 0;
        for (int i = 0; i < line.length(); i++) {
            row = line.charAt(i) == '`' ? row + 1 : 0;
            most = Math.max(most, row);
        }
        String fence = "`".repeat(most + 1);
        String space = line.startsWith("`") || line.endsWith("`") ? " " : "";
        return fence + space + line + space + fence;
    }

    /** The card up to its size limit: Temporal accepts 20,000 bytes. */
    private static final class Sheet {
        private static final int MOST_BYTES = 20_000;
        private static final String CUT = "\n… There is more.\n";

        private final StringBuilder text = new StringBuilder();
        private final String footer;
        private int bytesLeft;
        private boolean full;

        Sheet(String footer) {
            this.footer = footer;
            this.bytesLeft = MOST_BYTES - bytes(footer) - bytes(CUT);
        }

        void add(String block) {
            int bytes = bytes(block);
            if (full || bytes > bytesLeft) {
                full = true;
            } else {
                text.append(block);
                bytesLeft -= bytes;
            }
        }

        private static int bytes(String text) {
            return text.getBytes(StandardCharsets.UTF_8).length;
        }

        @Override
        public String toString() {
            return text + (full ? CUT : "") + footer;
        }
    }
}
