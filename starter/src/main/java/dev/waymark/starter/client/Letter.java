package dev.waymark.starter.client;

import dev.waymark.contract.Names;
import dev.waymark.contract.Say;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.UUID;

/**
 * Something for a thread, to be sent with {@link AgentClient#post}. It has an id of its own, so that sending it twice is
 * harmless.
 *
 * <pre>{@code
 * client.post("trip", Letter.message("And a window seat, please."));
 * }</pre>
 */
public final class Letter {
    private final String id;
    private final String name;
    private final Object payload;

    private Letter(String id, String name, Object payload) {
        this.id = id;
        this.name = name;
        this.payload = payload;
    }

    public static Letter message(String text) {
        String id = newId();
        return new Letter(id, Names.SAY, Say.message(id, Limits.message(text)));
    }

    /** The last failed or stopped turn is to run once more. */
    public static Letter retry() {
        String id = newId();
        return new Letter(id, Names.SAY, Say.retry(id));
    }

    /** The answer to the question of this call. */
    public static Letter answer(String callId, String text) {
        String id = newId();
        Map<String, Object> payload = new LinkedHashMap<>();
        payload.put("id", id);
        payload.put("callId", callId);
        payload.put("answer", Limits.answer(text));
        return new Letter(id, Names.ANSWER, payload);
    }

    /** What a person says to a call that waits for approval. */
    public static Letter decision(Approval approval) {
        String id = newId();
        return new Letter(id, approval.approved() ? Names.APPROVE : Names.DENY, approval.payload(id));
    }

    /** What a person makes of a call of which nobody knows whether it took effect. */
    public static Letter settlement(Settlement settlement) {
        return new Letter(newId(), Names.SETTLE, settlement.payload());
    }

    /** The turn is to end. */
    public static Letter stop() {
        return new Letter(newId(), Names.STOP, Map.of());
    }

    private static String newId() {
        return UUID.randomUUID().toString();
    }

    /** By which what comes of it is known in the thread's history. */
    public String id() {
        return id;
    }

    /** What it is, as the signal of the same kind is called. */
    public String name() {
        return name;
    }

    Object payload() {
        return payload;
    }

    @Override
    public String toString() {
        return name + " " + payload;
    }
}
