package dev.waymark.conversation.message;

import com.fasterxml.jackson.annotation.JsonIgnore;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.PersistentList;
import dev.waymark.conversation.value.Sha256;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * All messages so far, with a running digest: {@code d(i) = sha256(d(i-1) + canonical(message i))}, in hexadecimal.
 *
 * <p>A model call gets the digest instead of the conversation, and the digest proves that a projection is correct.
 * {@code bytes} is the total length of the canonical messages, which are ASCII. It is stored so that it is known
 * without serializing the messages.
 */
public record Transcript(PersistentList<Entry> entries, String digest, long bytes) {

    /** A transcript without messages. */
    public static final Transcript EMPTY = new Transcript(PersistentList.empty(), Sha256.hex(""), 0);

    public Transcript {
        Objects.requireNonNull(entries, "entries");
        Objects.requireNonNull(digest, "digest");
    }

    /**
     * A message with its id in the thread.
     *
     * @param source the id under which a person sent it
     * @param schema the JSON Schema that the message requests for the reply. Every prompt contains it after the
     *     message.
     */
    public record Entry(String id, Instant at, Optional<String> source, Message message, Optional<Json> schema) {
        public Entry {
            Objects.requireNonNull(id, "id");
            Objects.requireNonNull(at, "at");
            Objects.requireNonNull(message, "message");
            schema = schema == null ? Optional.empty() : schema;
        }

        public Entry(String id, Instant at, Optional<String> source, Message message) {
            this(id, at, source, message, Optional.empty());
        }

        private String canonical() {
            return message.canonical()
                    + schema.map(wanted -> wanted.canonical()).orElse("");
        }

        /** The message as a model reads it: with the request for a reply that matches the schema, if there is one. */
        Message told() {
            return schema.map(wanted -> message.and(new Part.Text(ReplySchema.request(wanted))))
                    .orElse(message);
        }

        /** A copy of this entry with another message. */
        public Entry saying(Message other) {
            return new Entry(id, at, source, other, schema);
        }
    }

    /** A copy with one more entry at the end, and with its digest and size updated. */
    public Transcript plus(Entry entry) {
        String canonical = entry.canonical();
        return new Transcript(entries.plus(entry), Sha256.hex(digest + canonical), bytes + canonical.length());
    }

    /** This transcript with these entries at its end. */
    public Transcript plusAll(Iterable<Entry> more) {
        Transcript longer = this;
        for (Entry entry : more) {
            longer = longer.plus(entry);
        }
        return longer;
    }

    /** The number of messages. */
    @JsonIgnore
    public int count() {
        return entries.size();
    }

    /** Whether there are no messages. */
    @JsonIgnore
    public boolean isEmpty() {
        return entries.isEmpty();
    }

    /** The last message, if it is a final reply of the assistant. */
    public Optional<Message> finalReply() {
        return entries.last()
                .map(Entry::message)
                .filter(message ->
                        message.role() == Role.ASSISTANT && message.toolUses().isEmpty());
    }

    /** The messages as models read them, in order. */
    public List<Message> prompt() {
        return entries.toList().stream().map(Entry::told).toList();
    }

    /** The messages, in order. */
    public List<Message> messages() {
        return entries.toList().stream().map(Entry::message).toList();
    }
}
