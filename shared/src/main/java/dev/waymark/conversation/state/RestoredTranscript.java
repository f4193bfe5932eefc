package dev.waymark.conversation.state;

import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Transcript;
import java.time.Instant;
import java.util.LinkedHashSet;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

/** The transcript of a checkpoint, while a conversation is restored from it. Not thread-safe. */
public final class RestoredTranscript {
    private static final Pattern OWN_ID = Pattern.compile("m[1-9]\\d{0,8}");

    private final Set<String> used = new LinkedHashSet<>();
    private Transcript transcript = Transcript.EMPTY;
    private int messages;

    public Transcript transcript() {
        return transcript;
    }

    /** The last number used in a message id; new ids continue after it. */
    public int messages() {
        return messages;
    }

    /** Adds a message, with this id, or with a new one if there is none or another message has it. */
    public void add(Message message, Optional<String> id, Instant at) {
        String own =
                id.filter(given -> !given.isEmpty() && !used.contains(given)).orElse("m" + (messages + 1));
        used.add(own);
        // New ids continue after existing ones and never repeat them. Existing ids are not in order: a summary is newer
        // than the messages after it.
        messages =
                OWN_ID.matcher(own).matches() ? Math.max(messages, Integer.parseInt(own.substring(1))) : messages + 1;
        transcript = transcript.plus(new Transcript.Entry(own, at, Optional.empty(), message));
    }
}
