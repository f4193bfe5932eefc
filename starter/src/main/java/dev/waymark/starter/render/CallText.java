package dev.waymark.starter.render;

import dev.waymark.client.ThreadEvent;
import dev.waymark.client.document.CallLog;
import dev.waymark.contract.thread.CallItem;
import dev.waymark.conversation.decision.CallApproval;
import dev.waymark.conversation.decision.CallSettlement;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.VerifiedSubject;
import dev.waymark.display.SafeText;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;

/** Formats tool calls, and the decisions about them, as text for people. */
public final class CallText {
    private static final String FROM_FILE = "from a file";

    private CallText() {}

    /** Formats a call in several lines, with its idempotency key, decisions, and full arguments and result. */
    public static List<String> full(CallItem call, Optional<CallLog.Result> result) {
        List<String> lines = new ArrayList<>();
        lines.add(SafeText.line(call.callId()) + "  " + call.status() + "  " + SafeText.line(call.tool()) + "  since "
                + call.since());
        call.key().ifPresent(key -> lines.add("  key      " + key));
        lines.add("  args     " + SafeText.json(call.args().canonical()));
        call.requested().ifPresent(chosen -> lines.add("  model    " + SafeText.json(chosen.canonical())));
        if (call.fromFile()) {
            lines.add("  origin   " + FROM_FILE);
        }
        String decisions = decisions(call, SafeText::line);
        if (!decisions.isEmpty()) {
            lines.add("  decided  " + decisions);
        }
        result.ifPresent(found -> {
            String mark = found.told().isError() ? "  error    " : "  result   ";
            String text = found.whole().orElse(found.told().content());
            if (found.whole().isPresent()) {
                lines.add("  whole    " + text.codePointCount(0, text.length())
                        + " characters, of which the model was shown a part");
            }
            for (String line : SafeText.lines(text).split("\n", -1)) {
                lines.add(mark + line);
                mark = "         │ ";
            }
        });
        return lines;
    }

    /** Formats the names of running tools, such as {@code search runs ...}; an empty text if no tool runs. */
    public static String running(ThreadEvent.CallsRunning running) {
        String tools =
                running.calls().stream().map(call -> SafeText.line(call.tool())).collect(Collectors.joining(", "));
        return tools.isEmpty() ? "" : tools + (running.calls().size() == 1 ? " runs ..." : " run ...");
    }

    /** Formats a call in one line, such as {@code charge {"cents": 5}}. */
    public static String line(String tool, Json args) {
        return SafeText.line(tool) + " " + OneLine.shortenedJson(args.canonical());
    }

    /** Formats the tool of a call, such as {@code charge (from a file)}. */
    public static String tool(CallItem call) {
        return SafeText.line(call.tool()) + (call.fromFile() ? " (" + FROM_FILE + ")" : "");
    }

    /**
     * Formats the decisions about a call, and who made them: the agent's rules, its approval or denial, and the settlement of its outcome.
     */
    public static String decisions(CallItem call) {
        return decisions(call, OneLine::shortened);
    }

    private static String decisions(CallItem call, UnaryOperator<String> note) {
        List<String> words = new ArrayList<>();
        call.verdict().map(verdict -> note.apply(verdict.words())).ifPresent(words::add);
        call.approval().map(CallText::words).ifPresent(words::add);
        call.grant().map(CallText::grant).ifPresent(words::add);
        call.settled().map(settled -> words(settled, note)).ifPresent(words::add);
        return String.join("; ", words);
    }

    /** Formats an approval or denial, such as {@code approved by ann, with other arguments}. */
    public static String words(CallApproval approval) {
        return words(approval, Optional.empty());
    }

    /** @param args the arguments, which are shown if they were changed */
    static String words(CallApproval approval, Optional<Json> args) {
        String who = approval.stated() ? ", according to a checkpoint" : by(approval.by(), approval.verified());
        String edit =
                args.map(json -> ": " + OneLine.shortenedJson(json.canonical())).orElse("");
        return (approval.approved() ? "approved" : "denied")
                + who
                + (approval.edited() ? ", with other arguments" + edit : "")
                + approval.grant()
                        .map(terms -> ", also " + OneLine.shortened(terms.words()))
                        .orElse("")
                + approval.reason().map(why -> ": " + OneLine.shortened(why)).orElse("");
    }

    /** Formats the number of the grant that let a call run. */
    static String grant(int number) {
        return "approved by grant " + number;
    }

    /** Formats a settlement, such as {@code settled: not-done by ann: seen on the dashboard}. */
    static String words(CallSettlement settled, UnaryOperator<String> note) {
        return "settled: " + settled.outcome().wireName() + by(settled.by(), settled.verified())
                + settled.note().map(text -> ": " + note.apply(text)).orElse("");
    }

    /** Names who decided: the name that a server verified, if any, and the stated name if it is a different one. */
    public static String by(Optional<String> stated, Optional<VerifiedSubject> verified) {
        if (verified.isEmpty()) {
            return stated.map(name -> " by " + SafeText.line(name)).orElse("");
        }
        String subject = verified.get().subject();
        return " by " + SafeText.line(subject) + " (verified)"
                + stated.filter(name -> !name.equals(subject))
                        .map(name -> ", under the name " + SafeText.line(name))
                        .orElse("");
    }
}
