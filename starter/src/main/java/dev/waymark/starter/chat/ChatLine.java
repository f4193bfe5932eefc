package dev.waymark.starter.chat;

import dev.waymark.client.Approval;
import dev.waymark.client.OutboundMessage;
import dev.waymark.client.Settlement;
import dev.waymark.contract.PendingItem;
import dev.waymark.display.Suggestion;
import dev.waymark.starter.render.PendingText;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * What a line means that somebody typed into a chat. It is about what was open when it was typed, which is what the
 * person saw.
 */
public final class ChatLine {
    static final String HELP = """
        A line is said to the agent, or answers its open question. A backslash at its end continues it.
          /approve [ID] [--reason TEXT]       lets a call run
          /deny [ID] [--reason TEXT]          forbids it
          /settle ID done|rerun|give-up [--result TEXT]
                                              says how a call with an unknown outcome ended
          /say TEXT                           says it, also while something waits
              /result ID                          shows all that a call returned
              /stop                               ends the turn, as Ctrl-C does while it runs
          /retry                              runs the last failed or stopped turn once more
          /sessions                           lists the sessions
          /session, /session NAME             says which one this is; goes to another one
          /session clear                      forgets this one
          /help, /quit                        Ctrl-D leaves, too
        //text says /text to the agent.\
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

    /** Who does what a line says. */
    interface Orders {
        /** A message to the agent. */
        void say(String text);

        /** Anything else for the thread. */
        void send(OutboundMessage letter);

        /** It can't be done like that. */
        void hint(String text);

        /** Shows again what waits for a decision, which this line was not. */
        void askAgain(PendingItem item);

        /** All that a call returned. */
        void showResult(String callId);

        /** A person types, who saw what is open. */
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
                .filter(item -> item.kind().equals(PendingItem.QUESTION))
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

    /** A plain line never becomes a message for the model where a person may mean the call by it. */
    private void decideInWords(List<PendingItem> approvals, String word) {
        boolean isYes = YES.contains(word);
        if (approvals.size() > 1) {
            orders.hint("several calls wait for approval: decide with /approve ID or /deny ID. The ids are "
                    + ids(approvals) + ". /say TEXT is said to the agent");
        } else if (!orders.isInteractive()) {
            orders.hint("a call waits for approval: decide with /approve or /deny. /say TEXT is said to the agent");
        } else if (isYes || NO.contains(word)) {
            decide(isYes ? Approval.approve() : Approval.deny(), approvals.get(0), Optional.empty());
        } else {
            orders.askAgain(approvals.get(0));
        }
    }

    private List<PendingItem> approvals(String callId) {
        return open.stream()
                .filter(item -> item.kind().equals(PendingItem.APPROVAL))
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
                        + "See /help. To say it to the agent, begin the line with //");
        }
    }

    private void session(String rest) {
        switch (rest) {
            case "" -> orders.nameSession();
            case "clear" -> orders.clearSession();
            default -> orders.switchTo(rest);
        }
    }

    /** Quotes around all of a text are those of a shell, which somebody is used to. */
    private static String unquoted(String text) {
        boolean isQuoted = text.length() > 1
                && "\"'".indexOf(text.charAt(0)) >= 0
                && text.indexOf(text.charAt(0), 1) == text.length() - 1;
        return isQuoted ? text.substring(1, text.length() - 1) : text;
    }

    /** What follows an order: an id, and text behind an option. */
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

    private void decide(Approval approval, String typed) {
        Rest rest = Rest.of(typed, "--reason");
        List<PendingItem> waiting = approvals(rest.id());
        if (waiting.size() != 1) {
            orders.hint(
                    waiting.isEmpty()
                            ? "no call waits for approval" + (rest.id().isEmpty() ? "" : ": " + rest.id())
                            : "several calls wait for approval. Name one of " + ids(waiting));
            return;
        }
        decide(approval, waiting.get(0), rest.text());
    }

    private void decide(Approval approval, PendingItem shown, Optional<String> reason) {
        if (approval.approved() && !PendingText.of(shown).isWhole()) {
            orders.askAgain(shown);
            return;
        }
        Approval named =
                approval.withCall(shown.callId()).withDigest(shown.argsDigest().orElseThrow());
        orders.send(OutboundMessage.decision(reason.map(named::withReason).orElse(named)));
    }

    private void settle(String typed) {
        Rest rest = Rest.of(typed, "--result");
        String[] words = rest.id().split("\\s+");
        Optional<Settlement.Outcome> outcome = words.length == 2
                ? Arrays.stream(Settlement.Outcome.values())
                        .filter(each -> each.wireName().equals(words[1]))
                        .findFirst()
                : Optional.empty();
        if (outcome.isEmpty() || (rest.text().isPresent() && outcome.get() != Settlement.Outcome.DONE)) {
            orders.hint("/settle needs ID and done, rerun or give-up; done may have --result TEXT");
            return;
        }
        Settlement settlement = Settlement.of(words[0], outcome.get());
        orders.send(OutboundMessage.settlement(
                rest.text().map(settlement::withResult).orElse(settlement)));
    }

    private static String ids(List<PendingItem> items) {
        return items.stream().map(PendingItem::callId).collect(Collectors.joining(", "));
    }
}
