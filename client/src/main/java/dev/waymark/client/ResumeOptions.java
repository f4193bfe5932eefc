package dev.waymark.client;

import java.util.Optional;

/**
 * How to go on from where a conversation was left.
 *
 * @param answer to the first open question; a new message where none is open
 * @param agent who goes on, if not the agent that is recorded
 * @param thread the id of the new thread, which then stays open for more turns. Without one it is made of what is
 *     resumed and the answer, so that the same resumed twice is one thread, which closes as the old one would have.
 */
public record ResumeOptions(
        Optional<String> answer,
        Optional<String> agent,
        Optional<String> thread,
        Optional<Integer> maxIterations,
        boolean volatileAllowed) {
    /** From where it was left, and nothing else. */
    public static ResumeOptions onward() {
        return new ResumeOptions(Optional.empty(), Optional.empty(), Optional.empty(), Optional.empty(), false);
    }

    public ResumeOptions withAnswer(String words) {
        return new ResumeOptions(Optional.of(words), agent, thread, maxIterations, volatileAllowed);
    }

    public ResumeOptions withAgent(String name) {
        return new ResumeOptions(answer, Optional.of(name), thread, maxIterations, volatileAllowed);
    }

    public ResumeOptions withThread(String id) {
        return new ResumeOptions(answer, agent, Optional.of(id), maxIterations, volatileAllowed);
    }

    public ResumeOptions withMaxIterations(int most) {
        return new ResumeOptions(answer, agent, thread, Optional.of(most), volatileAllowed);
    }

    /** Lets a thread with a name live on a server that keeps everything in memory. */
    public ResumeOptions allowingVolatile() {
        return new ResumeOptions(answer, agent, thread, maxIterations, true);
    }
}
