package dev.waymark.starter.chat;

import dev.waymark.client.request.Approval;
import dev.waymark.client.request.OutboundMessage;
import dev.waymark.client.request.Settlement;
import dev.waymark.conversation.decision.CallSettlement.Outcome;
import dev.waymark.conversation.decision.PendingItem;
import dev.waymark.conversation.fact.PersonFact.ApprovalDecided;
import dev.waymark.conversation.fact.PersonFact.OutcomeSettled;
import dev.waymark.display.Suggestion;
import dev.waymark.starter.render.PendingText;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Parses a line typed into a chat. The line refers to the requests that were open when it was entered, because these
 * are the ones that the user saw.
 */
public final class ChatLine {
    static final String HELP = """
        A line that you type is sent to the agent, or answers the agent's open question. If a call waits for
        approval, y approves it and n denies it. End a line with a backslash to continue it on the next line.
          /approve [ID] [--reason TEXT]       approves a call
          /deny [ID] [--reason TEXT]          denies it
          /settle ID done|not-done|rerun|give-up [--result TEXT] [--note TEXT]
                                              settles a call with an unknown outcome
          /say TEXT                           sends TEXT as a message, even if a decision is open
          /result ID                          shows the full result of a call
          /stop                               ends the turn, like Ctrl-C
          /retry                              runs the last turn again, if it failed or was stopped
          /sessions                           lists the sessions
          /session, /session NAME             shows the current session; switches to another
          /session clear                      deletes the conversation
          /help, /quit                        Ctrl-D also quits
        //text sends /text to the agent.\
        """;

    static final List<String> COMMANDS = List.of(
            "/approve",
            "/deny",
            "/settle",
            "/say",
            "/result",
            "/stop",
            "/retry",
            "/sessions",
            "/session",
            "/help",
            "/quit");

    private static final Set<String> YES = Set.of("y", "yes");
    private static final Set<String> NO = Set.of("n", "no");

    private final List<PendingItem> open;
    private final Orders orders;

    private ChatLine(List<PendingItem> open, Orders orders) {
        this.open = open;
        this.orders = orders;
    }

    /** Carries out what a line requests. */
    interface Orders {
        /** Sends a message to the agent. */
        void say(String text);

        /** Sends anything else to the thread, such as an answer, a decision or a stop. */
        void send(OutboundMessage message);

        /** Tells the user why the line was not carried out, and what to type instead. */
        void hint(String text);

        /** Shows an open request again, because the line did not decide it. */
        void askAgain(PendingItem item);

        /** Shows the full result of a call. */
        void showResult(String callId);

        /** Whether the line was typed at a terminal by a person who saw the open requests. */
        boolean isInteractive();

        void listSessions();

        void nameSession();

        void clearSession();

        void switchTo(String session);

        void help();

        void quit();
    }

    static void read(String typed, List<PendingItem> open, Orders orders) {
        new ChatLine(open, orders).read(typed);
    }

    private void read(String typed) {
        if (typed.isBlank()) {
            return;
        }
        if (!typed.startsWith("/")) {
            talk(typed);
        } else if (typed.startsWith("//")) {
            talk(typed.substring(1));
        } else {
            String[] parts = typed.strip().split("\\s+", 2);
            order(parts[0].toLowerCase(Locale.ROOT), parts.length > 1 ? parts[1] : "");
        }
    }

    private void talk(String text) {
        Optional<PendingItem> question = open.stream()
                .filter(item -> item.kind() == PendingItem.Kind.QUESTION)
                .findFirst();
        List<PendingItem> approvals = approvals("");
        if (question.isPresent()) {
            orders.send(OutboundMessage.answer(question.get().callId(), text));
        } else if (approvals.isEmpty()) {
            orders.say(text);
        } else {
            decideInWords(approvals, text.strip().toLowerCase(Locale.ROOT));
        }
    }

    /** Reads a plain line as a decision about the waiting approvals. Such a line is never sent to the model. */
    private void decideInWords(List<PendingItem> approvals, String word) {
        boolean isYes = YES.contains(word);
        if (approvals.size() > 1) {
            orders.hint("several calls wait for approval: decide with /approve ID or /deny ID. The ids are "
                    + ids(approvals) + ". /say TEXT sends a message instead");
        } else if (!orders.isInteractive()) {
            orders.hint("a call waits for approval: decide with /approve or /deny. /say TEXT sends a message instead");
        } else if (isYes || NO.contains(word)) {
            decide(isYes ? Approval.approve() : Approval.deny(), approvals.get(0), Optional.empty());
        } else {
            orders.askAgain(approvals.get(0));
        }
    }

    private List<PendingItem> approvals(String callId) {
        return open.stream()
                .filter(item -> item.kind() == PendingItem.Kind.APPROVAL)
                .filter(item -> callId.isEmpty() || item.callId().equals(callId))
                .toList();
    }

    private void order(String name, String rest) {
        switch (name) {
            case "/approve" -> decide(Approval.approve(), rest);
            case "/deny" -> decide(Approval.deny(), rest);
            case "/settle" -> settle(rest);
            case "/say" -> {
                if (rest.isBlank()) {
                    orders.hint("/say needs TEXT");
                } else {
                    orders.say(rest);
                }
            }
            case "/result" -> orders.showResult(rest.strip());
            case "/stop" -> orders.send(OutboundMessage.stop());
            case "/retry" -> orders.send(OutboundMessage.retry());
            case "/sessions" -> orders.listSessions();
            case "/session" -> session(rest.strip());
            case "/help" -> orders.help();
            case "/quit", "/exit" -> orders.quit();
            default ->
                orders.hint("no such command: " + name + ". "
                        + Suggestion.of(name, COMMANDS)
                                .map(meant -> "Did you mean " + meant + "? ")
                                .orElse("")
                        + "See /help. To send it to the agent, start the line with //");
        }
    }

    private void session(String rest) {
        switch (rest) {
            case "" -> orders.nameSession();
            case "clear" -> orders.clearSession();
            default -> orders.switchTo(rest);
        }
    }

    /** Removes quotes around the whole text, which users type out of habit from the shell. */
    private static String unquoted(String text) {
        boolean isQuoted = text.length() > 1
                && "\"'".indexOf(text.charAt(0)) >= 0
                && text.indexOf(text.charAt(0), 1) == text.length() - 1;
        return isQuoted ? text.substring(1, text.length() - 1) : text;
    }

    /** What follows the name of a command: the part before an option, and the text after the option. */
    private record Rest(String id, Optional<String> text) {
        static Rest of(String rest, String option) {
            int at = (" " + rest).indexOf(" " + option + " ");
            return at < 0
                    ? new Rest(rest.strip(), Optional.empty())
                    : new Rest(
                            rest.substring(0, at).strip(),
                            Optional.of(unquoted(
                                    rest.substring(at + option.length()).strip())));
        }
    }

    private void decide(ApprovalDecided approval, String typed) {
        Rest rest = Rest.of(typed, "--reason");
        List<PendingItem> waiting = approvals(rest.id());
        if (waiting.size() != 1) {
            orders.hint(
                    waiting.isEmpty()
                            ? "no call waits for approval" + (rest.id().isEmpty() ? "" : ": " + rest.id())
                            : "several calls wait for approval. Add one of these ids: " + ids(waiting));
            return;
        }
        decide(approval, waiting.get(0), rest.text());
    }

    private void decide(ApprovalDecided approval, PendingItem shown, Optional<String> reason) {
        if (approval.approved() && !PendingText.of(shown).isWhole()) {
            orders.askAgain(shown);
            return;
        }
        ApprovalDecided named =
                approval.withCall(shown.callId()).withDigest(shown.argsDigest().orElseThrow());
        orders.send(OutboundMessage.of(reason.map(named::withReason).orElse(named)));
    }

    private void settle(String typed) {
        Rest noted = Rest.of(typed, "--note");
        Rest rest = Rest.of(noted.id(), "--result");
        String[] words = rest.id().split("\\s+");
        Optional<Outcome> outcome = words.length == 2 ? Outcome.named(words[1]) : Optional.empty();
        if (outcome.isEmpty() || (rest.text().isPresent() && outcome.get() != Outcome.DONE)) {
            orders.hint("/settle needs ID and one of " + Outcome.names()
                    + ". After that, done may have --result TEXT, and each may end with --note TEXT");
            return;
        }
        OutcomeSettled plain = Settlement.of(words[0], outcome.get());
        OutcomeSettled settlement = rest.text().map(plain::withResult).orElse(plain);
        orders.send(OutboundMessage.of(noted.text().map(settlement::withNote).orElse(settlement)));
    }

    private static String ids(List<PendingItem> items) {
        return items.stream().map(PendingItem::callId).collect(Collectors.joining(", "));
    }
}
