package dev.waymark.worker.workflow;

import dev.waymark.conversation.Call;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.Message;
import dev.waymark.conversation.Part;
import dev.waymark.conversation.Role;
import dev.waymark.conversation.Transcript;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The run as a Markdown card, for whoever looks at it in the Web UI: what it waits for, and how to answer. What users,
 * models and tools said is shown as they said it: none of it becomes Markdown, a link, or a card of its own.
 */
final class Card {
    /** What may mean something in Markdown, or as MathJax, which the Web UI knows too. */
    private static final String MARKDOWN = "\\`*_{}[]()#+-.!:|<>~^&$";

    private static final int NEWEST_MESSAGES = 4;
    private static final int MOST_QUESTIONS = 10;
    private static final int MOST_CHARACTERS = 400;

    private final String thread;
    /** The lines of the newest messages, by message id. A card is drawn at every step, and again on replay. */
    private final Map<String, String> lines = new LinkedHashMap<>() {
        @Override
        protected boolean removeEldestEntry(Map.Entry<String, String> eldest) {
            return size() > NEWEST_MESSAGES;
        }
    };

    Card(String thread) {
        this.thread = thread;
    }

    String of(Conversation state) {
        StringBuilder card = new StringBuilder();
        card.append("**").append(headline(state)).append("**\n\n");
        appendQuestions(state, card);
        appendMessages(state, card);
        card.append("Agent ").append(code(state.agent()));
        card.append(" · turn ").append(state.turn().number());
        card.append(" · ")
                .append(state.turn().iterations())
                .append(state.turn().iterations() == 1 ? " model call · " : " model calls · ");
        card.append(state.usage().inputTokens()).append(" tokens in, ");
        card.append(state.usage().outputTokens()).append(" out\n\n");
        if (!state.queue().isEmpty()) {
            card.append(state.queue().size()).append(" messages queued\n\n");
        }
        if (state.ignored().count() > 0) {
            card.append(state.ignored().count()).append(" signals ignored, see query `status`\n\n");
        }
        card.append(code("./waymark show " + thread)).append("\n");
        return card.toString();
    }

    private static String headline(Conversation state) {
        return switch (state.phase()) {
            case STARTING -> "Looking for its agent";
            case THINKING -> "The model is thinking";
            case ACTING -> "Running tools";
            case WAITING -> "Waiting for an answer";
            case IDLE -> "Idle, last turn: " + state.turn().status().wireName();
        };
    }

    private static void appendQuestions(Conversation state, StringBuilder card) {
        List<Call> questions = state.questions();
        if (!questions.isEmpty()) {
            questions.stream().limit(MOST_QUESTIONS).forEach(call -> {
                card.append("> ").append(prose(call.question().orElse("")));
                if (questions.size() > 1) {
                    card.append(" (").append(code(call.id())).append(')');
                }
                card.append("\n\n");
            });
            // Where the Web UI shows the card, the key R reloads it, also while one types into the dialog.
            card.append(
                            "To answer: open *History*, then *More Actions → Send a Signal →* `answer`, with the JSON input ")
                    .append(code(example(questions)))
                    .append(". Here, the letter r would be lost.\n\n");
        }
        state.turn()
                .problem()
                .ifPresent(problem ->
                        card.append("> ").append(prose(problem.message())).append("\n\n"));
    }

    private static String example(List<Call> questions) {
        return questions.size() == 1
                ? "\"your answer\""
                : "{\"callId\": \"" + questions.get(0).id() + "\", \"answer\": \"your answer\"}";
    }

    private void appendMessages(Conversation state, StringBuilder card) {
        for (Transcript.Entry entry : state.transcript().entries().tail(NEWEST_MESSAGES)) {
            card.append(lines.computeIfAbsent(entry.id(), id -> line(entry.message())));
        }
        card.append('\n');
    }

    private static String line(Message message) {
        // As it was printed: in prose, the Web UI makes quotation marks typographic.
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
        Line line = new Line();
        for (Part part : message.content()) {
            if (part instanceof Part.Text text) {
                line.add(text.text());
            } else if (part instanceof Part.ToolUse use) {
                line.add(" → ").add(use.name());
            } else if (part instanceof Part.ToolResult result) {
                line.add(" ").add(result.content());
            }
        }
        return line.toString();
    }

    /** Somebody's words: on one line, and without meaning in Markdown. */
    private static String prose(String text) {
        String line = oneLine(text);
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

    /** Code in a line: between more backticks than it has in a row. */
    private static String code(String text) {
        String line = oneLine(text);
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

    private static String oneLine(String text) {
        return new Line().add(text).toString();
    }

    /** Text on one line, cut short. What does not fit is not even looked at. */
    private static final class Line {
        private final StringBuilder text = new StringBuilder();
        private boolean spaceDue;
        private boolean cut;

        Line add(String more) {
            for (int i = 0; i < more.length() && !cut; i++) {
                char c = more.charAt(i);
                if (Character.isWhitespace(c)) {
                    spaceDue = !text.isEmpty();
                } else if (text.length() >= MOST_CHARACTERS) {
                    cut = true;
                } else {
                    text.append(spaceDue ? " " : "").append(c);
                    spaceDue = false;
                }
            }
            return this;
        }

        @Override
        public String toString() {
            return cut ? text + "…" : text.toString();
        }
    }
}
