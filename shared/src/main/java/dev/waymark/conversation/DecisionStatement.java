package dev.waymark.conversation;

import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Sha256;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/**
 * A decision as its approver signs it. It names everything that it must not be valid for elsewhere: the call, the time at
 * which the decision was asked for, the arguments that were shown and those that are to run.
 *
 * <pre>{@code
 * {"argsDigest":"9f86…","asked":"2026-11-22T02:10:03.123Z","by":"ann","decision":"approve","place":"trip/tu_7",
 *  "purpose":"waymark decision 1"}
 * }</pre>
 *
 * @param place the thread's id, a slash and the call's id: the same seen from a subagent's thread and from the one above
 * @param asked when the decision was asked for: a later request for the same call has another time
 * @param argsDigest of the arguments that were shown
 * @param decision {@code approve}, {@code deny}, or how an unknown outcome is settled
 * @param newArgsDigest of the arguments that run instead of those that were shown
 * @param words the reason of a decision, the result of a settlement
 * @param by the signer's name in the agent file
 */
public record DecisionStatement(
        String place,
        Instant asked,
        String argsDigest,
        String decision,
        Optional<String> newArgsDigest,
        Optional<String> words,
        String by) {
    private static final String PURPOSE = "waymark decision 1";

    public DecisionStatement {
        Objects.requireNonNull(place, "place");
        Objects.requireNonNull(asked, "asked");
        Objects.requireNonNull(argsDigest, "argsDigest");
        Objects.requireNonNull(decision, "decision");
        Objects.requireNonNull(by, "by");
    }

    /**
     * About something that waits for a person.
     *
     * @param argsDigest of the arguments that were shown
     * @param newArgs that run instead of them
     */
    public static DecisionStatement about(
            Signers signers,
            Instant asked,
            Optional<String> argsDigest,
            String decision,
            Optional<Json> newArgs,
            Optional<String> words,
            Optional<String> by) {
        return new DecisionStatement(
                signers.place(),
                asked,
                argsDigest.orElse(""),
                decision,
                newArgs.map(args -> Sha256.hex(args.canonical())),
                words,
                by.orElse(""));
    }

    /** What is signed: canonical JSON in UTF-8. */
    public byte[] bytes() {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("purpose", PURPOSE);
        fields.put("place", place);
        fields.put("asked", asked.toString());
        fields.put("argsDigest", argsDigest);
        fields.put("decision", decision);
        newArgsDigest.ifPresent(digest -> fields.put("newArgsDigest", digest));
        words.ifPresent(text -> fields.put("words", text));
        fields.put("by", by);
        return Json.of(fields).canonical().getBytes(StandardCharsets.UTF_8);
    }
}
