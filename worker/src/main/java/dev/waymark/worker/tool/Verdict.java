package dev.waymark.worker.tool;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import dev.waymark.contract.Wire;

/** What a {@code verify} program found out about a call whose outcome is unknown. */
public sealed interface Verdict {

    /** The call had its effect, and this is its result. */
    record Landed(String result) implements Verdict {}

    /** The call had no effect, and will have none. */
    record NotLanded() implements Verdict {}

    /** Nobody knows, still, and why. */
    record Unknown(String why) implements Verdict {}

    /**
     * Reads <code>{"landed":true,"result":"…"}</code>, <code>{"landed":false}</code> or <code>{"landed":null}</code>.
     * Whatever else it may be is no answer: a guess could make an effect happen twice.
     */
    static Verdict of(CommandResult run) {
        if (run instanceof CommandResult.Exited exited && exited.code() == 0) {
            return said(exited.stdout());
        }
        return new Unknown("verify: " + run.words());
    }

    private static Verdict said(String stdout) {
        Unknown nothing = new Unknown("verify: stdout is not {\"landed\": true, \"result\": \"…\"}, {\"landed\": false}"
                + " or {\"landed\": null}");
        try {
            JsonNode answer = Wire.MAPPER.readTree(stdout);
            JsonNode landed = answer.path("landed");
            if (landed.isNull()) {
                return new Unknown("verify: it can't tell");
            }
            if (!landed.isBoolean()) {
                return nothing;
            }
            if (!landed.booleanValue()) {
                return new NotLanded();
            }
            JsonNode result = answer.path("result");
            return result.isTextual() ? new Landed(InlineText.of(result.textValue())) : nothing;
        } catch (JsonProcessingException e) {
            return nothing;
        }
    }
}
