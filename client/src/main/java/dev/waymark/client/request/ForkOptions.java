package dev.waymark.client.request;

import dev.waymark.conversation.message.Message;
import dev.waymark.thread.ThreadOwner;
import java.util.Optional;

/**
 * Options for forking a thread.
 *
 * @param thread the id of the new thread
 * @param place a version ({@code 3}) or an event ({@code e42}, {@code RUN/e42}) of the forked thread; if empty, its
 * newest state
 * @param message the first message; without one, nothing runs yet
 * @param owner the owner of the new thread; if empty, the owner of the forked thread
 * @param untrusted whether the message has words that its sender did not write
 */
public record ForkOptions(
        String thread,
        Optional<String> place,
        Optional<Message> message,
        boolean volatileAllowed,
        Optional<ThreadOwner> owner,
        boolean untrusted) {
    /** Forks the current state of a thread into a new thread with this id. */
    public static ForkOptions into(String thread) {
        return new ForkOptions(thread, Optional.empty(), Optional.empty(), false, Optional.empty(), false);
    }

    /** Forks at this version or event instead of the newest state. */
    public ForkOptions at(String versionOrEvent) {
        return new ForkOptions(thread, Optional.of(versionOrEvent), message, volatileAllowed, owner, untrusted);
    }

    /** Begins the new thread with this message. */
    public ForkOptions saying(String words) {
        return saying(Message.user(words));
    }

    /** Begins the new thread with this message of text and images. */
    public ForkOptions saying(Message message) {
        return new ForkOptions(thread, place, Optional.of(message), volatileAllowed, owner, untrusted);
    }

    /** Says whether the message has words that its sender did not write, such as a mail or the state of a page. */
    public ForkOptions withUntrusted(boolean words) {
        return new ForkOptions(thread, place, message, volatileAllowed, owner, words);
    }

    /** Accepts that an in-memory server loses the new thread when it stops. */
    public ForkOptions allowingVolatile() {
        return new ForkOptions(thread, place, message, true, owner, untrusted);
    }

    /** Sets the owner of the new thread. */
    public ForkOptions ownedBy(ThreadOwner whose) {
        return new ForkOptions(thread, place, message, volatileAllowed, Optional.of(whose), untrusted);
    }
}
