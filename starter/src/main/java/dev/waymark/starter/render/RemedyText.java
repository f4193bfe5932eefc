package dev.waymark.starter.render;

import dev.waymark.cli.CommandName;
import dev.waymark.client.connection.ValueText;
import dev.waymark.client.failure.Remedy;

/** Formats a remedy of the client as commands that can be pasted. */
public final class RemedyText {
    private RemedyText() {}

    public static String of(Remedy remedy) {
        String thread = remedy.thread().map(ValueText::quoted).orElse("THREAD");
        return switch (remedy.action()) {
            case NONE, ADVICE -> remedy.toString();
            case START_SERVER ->
                "Start one with: " + CommandName.lineWithoutServer("dev") + ", or set TEMPORAL_ADDRESS to HOST:PORT";
            case CHECK_CONNECTION -> "Check TEMPORAL_NAMESPACE and TEMPORAL_ADDRESS";
            case START_WORKER ->
                "The message is stored, and the turn continues once there is a worker. Start one with: "
                        + line("worker") + "; then wait with: " + line("result " + thread);
            case START_WORKER_AND_LOOK ->
                "It was not accepted, but a worker that starts soon may still take it. Start one with: "
                        + line("worker") + "; then check with: " + line("show " + thread) + ", before sending it again";
            case WAIT_FOR_RESULT -> "The turn continues. Wait for it with: " + line("result " + thread);
            case NAME_AGENT -> "Name one with --agent";
            case NAME_CALL -> "Name one of them with --call";
            case USE_ANOTHER_THREAD -> "Use another --thread";
            case OMIT_AGENT_OR_USE_ANOTHER_THREAD -> "Omit --agent, or use another --thread";
            case SAVE_OR_ALLOW_LOSS ->
                "Add --saver file:DIR to keep the thread, --volatile to accept losing it, or use a server that keeps"
                        + " its threads";
            case RAISE_ITERATIONS ->
                "Raise it with: "
                        + line("budget " + thread + " --iterations "
                                + remedy.detail().orElse("N"));
            case ANSWER_OR_SAY ->
                "Continue it with: " + line("answer " + thread + " TEXT") + ", or "
                        + line("say " + thread + " MESSAGE");
            case ANSWER_OR_RESUME_ELSEWHERE ->
                "Continue it with: " + line("answer " + thread + " TEXT") + ", or "
                        + line("say " + thread + " MESSAGE")
                        + ", or resume into a new thread with --thread";
            case SAY_MORE -> "Continue it with: " + line("say " + thread + " MESSAGE");
            case START_THREAD -> "Start one with: " + line("run --agent A --thread " + thread + " MESSAGE");
            case SAY -> "Start one with: " + line("say " + thread + " MESSAGE");
            case DECIDE -> "Decide with: " + line("approve " + thread) + ", or " + line("deny " + thread);
            case DECIDE_AFTER_RESUME ->
                "Resume it without --answer, and decide with: " + line("approve") + ", deny or settle";
            case LIST_PENDING -> "List the open requests with: " + line("pending " + thread);
            case MAKE_KEY ->
                "Create one with: "
                        + CommandName.lineWithoutServer("keygen "
                                + remedy.detail().map(ValueText::quoted).orElse("FILE"));
            case LIST_THREADS -> "List the threads with: " + line("sessions");
            case LIST_SCHEDULES -> "List the schedules with: " + line("schedule list");
            case LIST_VERSIONS -> "List them with: " + line("checkpoints " + thread);
            case SHOW_THREAD -> "See its status with: " + line("show " + thread);
            case RESTORE_THREAD -> "Restore it with: " + line("run --thread " + thread);
            case RESTORE_WITH_AGENT ->
                "Nothing was changed. Name its agent with --agent: " + line("run --agent A --thread " + thread);
            case CLOSE_OR_TERMINATE ->
                "Close it first with: " + line("close " + thread) + ", or end it at once with: "
                        + line("forget " + thread + " --terminate");
            case FORGET_THREAD -> "To forget both: " + line("forget " + thread);
            case RESUME_THREAD -> "Continue it with: " + line("resume " + thread);
            case SHOW_SUCCESSOR ->
                "See it with: " + line("show " + thread) + "; if it is closed, continue from it with: "
                        + line("resume " + thread);
            case AWAIT_SUCCESSOR ->
                "If that thread does not appear, start it with: "
                        + line("resume "
                                + remedy.detail().map(ValueText::quoted).orElse("FILE") + " --thread " + thread);
            case FORK_INSTEAD ->
                "That thread was deleted. "
                        + remedy.detail()
                                .map(source -> "For a copy that leaves the open calls alone: "
                                        + line("fork " + ValueText.quoted(source) + " --thread NEW"))
                                .orElse("Its calls may have taken effect");
            case FORK_FOR_COPY -> "For a copy that leaves the call alone: " + line("fork " + thread + " --thread NEW");
            case RESUME_CHECKPOINT ->
                "Use the format of a runner checkpoint, such as [{\"role\": \"user\", \"content\": \"Hello\"}]. From any"
                        + " other checkpoint, continue with: " + line("resume FILE");
            case USE_ONE_VERSION -> "One version is enough: " + line("checkpoint THREAD --format session");
        };
    }

    private static String line(String arguments) {
        return CommandName.line(arguments);
    }
}
