package dev.waymark.history;

import dev.waymark.contract.work.ModelInput;
import dev.waymark.contract.work.RunOutcome;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.message.Transcript;
import io.temporal.api.common.v1.Payloads;
import io.temporal.common.converter.DataConverter;
import io.temporal.common.converter.DataConverterException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Compares data that the workflow and its workers recorded about a run's states with the projected states. */
final class RecordedDigests {
    private final String runId;
    private final DataConverter converter;
    private final List<DigestMismatch> mismatches = new ArrayList<>();
    private final List<String> contradictions = new ArrayList<>();
    private int modelCalls;

    RecordedDigests(String runId, DataConverter converter) {
        this.runId = runId;
        this.converter = converter;
    }

    int modelCalls() {
        return modelCalls;
    }

    List<DigestMismatch> mismatches() {
        return List.copyOf(mismatches);
    }

    List<String> contradictions() {
        return List.copyOf(contradictions);
    }

    void modelCalled(long eventId, ModelInput recorded, Conversation projected) {
        modelCalls++;
        Transcript transcript = projected.transcript();
        if (!recorded.isOf(transcript)) {
            mismatches.add(new DigestMismatch(runId, eventId, recorded, transcript.digest(), transcript.count()));
        }
        if (!recorded.hasDecisionsOf(projected)) {
            contradictions.add("decisions before the model call at " + runId + "/e" + eventId
                    + ": the workflow recorded others than the history has");
        }
    }

    void replied(long scheduledEventId, Reply reply) {
        if (!reply.isAsSealed()) {
            contradictions.add("reply to the model call at " + runId + "/e" + scheduledEventId
                    + ": its words are not those that the worker recorded");
        }
    }

    /**
     * Compares the recorded result of a run with the run's last state. No later model call records a digest of the last
     * reply, but the result contains the reply.
     */
    void completed(Payloads result, Conversation projected) {
        RunOutcome recorded;
        try {
            recorded = converter.fromPayloads(0, Optional.of(result), RunOutcome.class, RunOutcome.class);
        } catch (DataConverterException e) {
            recorded = null;
        }
        if (recorded == null) {
            contradictions.add("result of " + runId + ": it can't be read");
            return;
        }
        RunOutcome outcome = RunOutcome.of(projected);
        // The result of a subagent's thread may be shortened for its parent.
        boolean isWhole = projected.parent().isEmpty();
        if (isWhole
                && (!recorded.status().equals(outcome.status())
                        || !recorded.text().equals(outcome.text()))) {
            contradictions.add("result of " + runId + ": the workflow returned " + recorded.status() + " \""
                    + recorded.text() + "\", the projection has " + outcome.status() + " \"" + outcome.text() + "\"");
        }
        if (!recorded.hasDecisionsOf(projected)) {
            contradictions.add(
                    "decisions before the end of " + runId + ": the workflow recorded others than the history has");
        }
    }
}
