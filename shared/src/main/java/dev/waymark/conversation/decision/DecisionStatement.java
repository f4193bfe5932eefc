package dev.waymark.conversation.decision;

import dev.waymark.conversation.value.GrantTerms;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Sha256;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/**
 * A decision in the form that its approver signs. It names the call, the time of the request, the arguments shown and
 * the arguments to run, so that the signature is valid only for these.
 *
 * <pre>{@code
 * {"argsDigest":"9f86…","asked":"2026-11-22T02:10:03.123Z","by":"ann","decision":"approve","place":"trip/tu_7",
 *  "purpose":"waymark decision 1"}
 * }</pre>
 *
 * @param place the thread's id, a slash and the call's id; it is the same for a subagent's thread and for its parent
 * @param asked when the decision was requested; a later request for the same call has another time
 * @param argsDigest the digest of the arguments shown
 * @param decision {@code approve}, {@code deny}, or the settlement of an unknown outcome
 * @param newArgsDigest the digest of the arguments that replace those shown
 * @param words the reason for a decision, or the result of a settlement
 * @param note the note of a settlement
 * @param by the signer's name in the agent file
 * @param grant which later calls an approval also lets run, if any
 */
public record DecisionStatement(
        String place,
        Instant asked,
        String argsDigest,
        String decision,
        Optional<String> newArgsDigest,
        Optional<String> words,
        Optional<String> note,
        String by,
        Optional<GrantTerms> grant) {
    private static final String PURPOSE = "waymark decision 1";

    /** A statement about one call only. */
    public DecisionStatement(
            String place,
            Instant asked,
            String argsDigest,
            String decision,
            Optional<String> newArgsDigest,
            Optional<String> words,
            Optional<String> note,
            String by) {
        this(place, asked, argsDigest, decision, newArgsDigest, words, note, by, Optional.empty());
    }

    public DecisionStatement {
        Objects.requireNonNull(place, "place");
        Objects.requireNonNull(asked, "asked");
        Objects.requireNonNull(argsDigest, "argsDigest");
        Objects.requireNonNull(decision, "decision");
        Objects.requireNonNull(by, "by");
    }

    /**
     * The statement about a request that waits for a person.
     *
     * @param argsDigest the digest of the arguments shown
     * @param newArgs the arguments that replace those shown
     */
    public static DecisionStatement about(
            Signers signers,
            Instant asked,
            Optional<String> argsDigest,
            String decision,
            Optional<Json> newArgs,
            Optional<String> words,
            Optional<String> note,
            Optional<String> by) {
        return new DecisionStatement(
                signers.place(),
                asked,
                argsDigest.orElse(""),
                decision,
                newArgs.map(args -> Sha256.hex(args.canonical())),
                words,
                note,
                by.orElse(""));
    }

    /** A copy for an approval that also lets later calls run. */
    public DecisionStatement granting(Optional<GrantTerms> terms) {
        return new DecisionStatement(place, asked, argsDigest, decision, newArgsDigest, words, note, by, terms);
    }

    /** The signed bytes: canonical JSON in UTF-8. */
    public byte[] bytes() {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("purpose", PURPOSE);
        fields.put("place", place);
        fields.put("asked", asked.toString());
        fields.put("argsDigest", argsDigest);
        fields.put("decision", decision);
        newArgsDigest.ifPresent(digest -> fields.put("newArgsDigest", digest));
        words.ifPresent(text -> fields.put("words", text));
        note.ifPresent(text -> fields.put("note", text));
        fields.put("by", by);
        grant.ifPresent(terms -> fields.put("grant", terms.tree()));
        return Json.of(fields).canonical().getBytes(StandardCharsets.UTF_8);
    }
}
