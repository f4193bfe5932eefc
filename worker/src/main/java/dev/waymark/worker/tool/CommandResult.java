package dev.waymark.worker.tool;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import dev.waymark.contract.PayloadJson;
import dev.waymark.contract.ToolOutcome;
import dev.waymark.conversation.ToolTexts;
import java.util.Optional;

/** How the run of a program ended, and with it what is known of its effect: what it says, nothing, or that there is none. */
public sealed interface CommandResult {

    /** What the model is told. */
    ToolOutcome outcome();

    /** How it ended, with its complaints. */
    String words();

    /**
     * It ended by itself.
     *
     * @param stdout what it printed, cut as {@link InlineText} says
     * @param stderr the end of its complaints
     */
    record Exited(int code, String stdout, String stderr) implements CommandResult {

        private static final int QUESTION = 10;

        @Override
        public ToolOutcome outcome() {
            if (code == 0) {
                return ToolOutcome.result(stdout);
            }
            if (code == QUESTION) {
                return question()
                        .map(ToolOutcome::question)
                        .orElseGet(() -> failure(
                                with("exit code 10 asks a question, but stdout is not {\"question\": \"…\"}", stderr)));
            }
            return failure(words());
        }

        @Override
        public String words() {
            return with("exit code " + code, stderr);
        }

        private Optional<String> question() {
            try {
                JsonNode question = PayloadJson.MAPPER.readTree(stdout).path("question");
                return question.isTextual() && !question.textValue().isBlank()
                        ? Optional.of(InlineText.of(question.textValue()))
                        : Optional.empty();
            } catch (JsonProcessingException e) {
                return Optional.empty();
            }
        }
    }

    /** It had started, and was killed: whether it had an effect is unknown. Nothing of it is left. */
    record Killed(String why, String stderr) implements CommandResult {
        @Override
        public ToolOutcome outcome() {
            return failure(words());
        }

        @Override
        public String words() {
            return with(why, stderr);
        }
    }

    /**
     * It certainly did not run.
     *
     * @param late it could have been started, but its time was up before it was
     */
    record NotStarted(String why, boolean late) implements CommandResult {
        @Override
        public ToolOutcome outcome() {
            return failure(why);
        }

        @Override
        public String words() {
            return why;
        }
    }

    private static ToolOutcome failure(String words) {
        return ToolOutcome.error(ToolTexts.failure(words));
    }

    private static String with(String what, String stderr) {
        return stderr.isBlank() ? what : what + ": " + stderr.strip();
    }
}
