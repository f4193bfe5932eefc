package dev.waymark.starter.render;

import dev.waymark.client.document.CallLog;
import dev.waymark.client.document.JsonDocuments;
import dev.waymark.contract.thread.CallItem;
import dev.waymark.conversation.call.CallApproval;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.value.VerifiedSubject;
import dev.waymark.display.SafeText;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Formats tool calls, and the decisions about them, as text for people. */
public final class CallText {
    private CallText() {}

    /** Formats a call in several lines, with its idempotency key, decisions, and full arguments and result. */
    public static List<String> full(CallLog.Row row, Optional<Part.ToolResult> result) {
        CallItem call = row.call();
        List<String> lines = new ArrayList<>();
        lines.add(SafeText.line(call.callId()) + "  " + call.status() + "  " + SafeText.line(call.tool()) + "  since "
                + call.since());
        call.key().ifPresent(key -> lines.add("  key      " + key));
        lines.add("  args     " + SafeText.json(call.args().canonical()));
        String decisions = decisions(row);
        if (!decisions.isEmpty()) {
            lines.add("  decided  " + decisions);
        }
        result.ifPresent(found -> {
            String mark = found.isError() ? "  error    " : "  result   ";
            for (String line : SafeText.lines(found.content()).split("\n", -1)) {
                lines.add(mark + line);
                mark = "         │ ";
            }
        });
        return lines;
    }

    /**
     * Formats the decisions about a call, and who made them: its approval or denial, and the settlement of its outcome.
     */
    public static String decisions(CallLog.Row row) {
        List<String> words = new ArrayList<>();
        if (row.call().fromFile()) {
            words.add("from a file");
        }
        row.call().approval().map(CallText::words).ifPresent(words::add);
        row.settled()
                .map(said ->
                        "settled: " + JsonDocuments.tree(said.outcome()).textValue() + by(said.by(), said.verified()))
                .ifPresent(words::add);
        return String.join("; ", words);
    }

    /** Formats an approval or denial, such as {@code approved by ann, with other arguments}. */
    static String words(CallApproval approval) {
        String how = approval.approved() ? "approved" : "denied";
        String who = approval.stated() ? ", according to a checkpoint" : by(approval.by(), approval.verified());
        return how
                + who
                + (approval.edited() ? ", with other arguments" : "")
                + approval.reason().map(why -> ": " + OneLine.shortened(why)).orElse("");
    }

    /** Names who decided: the name that a server verified, if any, and the stated name if it is a different one. */
    static String by(Optional<String> stated, Optional<VerifiedSubject> verified) {
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
