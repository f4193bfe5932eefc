package dev.waymark.worker.tool.kind;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import dev.waymark.contract.PayloadJson;
import dev.waymark.contract.work.VerifyOutcome;
import dev.waymark.worker.inbound.InlineText;
import dev.waymark.worker.process.CommandResult;
import java.util.Optional;

/** Parses the output of a {@code verify} program. */
final class VerifyAnswer {
    private VerifyAnswer() {}

    /**
     * Reads <code>{"landed":true,"result":"…"}</code>, <code>{"landed":false}</code> or <code>{"landed":null}</code>.
     * Anything else is not an answer: a guess could repeat an effect.
     */
    static VerifyOutcome of(CommandResult run) {
        if (run instanceof CommandResult.Exited exited && exited.code() == 0) {
            return said(exited.stdout());
        }
        return VerifyOutcome.unknown("verify: " + run.words());
    }

    private static VerifyOutcome said(String stdout) {
        VerifyOutcome nothing = VerifyOutcome.unknown("verify: stdout is not {\"landed\": true, \"result\": \"…\"},"
                + " {\"landed\": false} or {\"landed\": null}");
        try {
            JsonNode answer = PayloadJson.MAPPER.readTree(stdout);
            JsonNode landed = answer.path("landed");
            JsonNode result = answer.path("result");
            if (landed.isNull()) {
                return VerifyOutcome.unknown("verify: it can't tell");
            }
            if (!landed.isBoolean() || !(result.isTextual() || result.isMissingNode())) {
                return nothing;
            }
            return VerifyOutcome.known(
                    landed.booleanValue(),
                    result.isTextual() ? Optional.of(InlineText.of(result.textValue())) : Optional.empty());
        } catch (JsonProcessingException e) {
            return nothing;
        }
    }
}
