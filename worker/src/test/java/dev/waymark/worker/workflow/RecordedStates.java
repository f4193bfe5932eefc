package dev.waymark.worker.workflow;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.checkpoint.RunnerCheckpoint;
import dev.waymark.contract.PayloadJson;
import dev.waymark.contract.StateDigest;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.fact.Fact;
import dev.waymark.conversation.message.Transcript;
import dev.waymark.conversation.value.Problem;
import dev.waymark.history.Projector;
import io.temporal.common.WorkflowExecutionHistory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * The projection of a recorded history: its facts, what each changes in the state, and the checkpoint that users see.
 * The file is stored next to the recording, so that a change of the rules shows as a difference of states.
 */
final class RecordedStates {
    private static final String NOTHING = "nothing";
    private static final int MOST_SHOWN = 300;
    private static final Set<String> COUNTED_BY_EACH_FACT = Set.of("counters.facts", "updatedAt");

    private RecordedStates() {}

    /**
     * Projects the history. To a reader that does not know the run's id, every claim looks as if a reset had restored
     * it. This must make no difference.
     */
    static JsonNode of(WorkflowExecutionHistory history) throws IOException {
        ObjectNode expected = PayloadJson.MAPPER.createObjectNode();
        ArrayNode facts = expected.putArray("facts");
        Map<String, JsonNode> before = new TreeMap<>();
        Projector projector = new Projector("recorded", moment -> {
            Map<String, JsonNode> after = leaves(moment.state());
            ObjectNode entry =
                    facts.addObject().put("fact", moment.fact().map(Fact::type).orElse("state-carried-over"));
            ObjectNode changes = entry.putObject("changes");
            union(before, after).stream()
                    .filter(path -> !Objects.equals(before.get(path), after.get(path)))
                    .forEach(path -> changes.set(path, after.get(path)));
            before.clear();
            before.putAll(after);
        });
        history.getEvents().forEach(projector::accept);
        projector
                .mismatches()
                .forEach(mismatch -> expected.withArray("problems").add(String.valueOf(mismatch)));
        projector
                .contradictions()
                .forEach(problem -> expected.withArray("problems").add(problem));
        Conversation state = projector.state().orElseThrow();
        expected.put("state", StateDigest.of(state));
        expected.put("modelCalls", projector.modelCalls());
        expected.set("checkpoint", PayloadJson.MAPPER.valueToTree(RunnerCheckpoint.of(state)));
        return PayloadJson.MAPPER.readTree(PayloadJson.MAPPER.writeValueAsBytes(expected));
    }

    /** The text of a projection, with a line for each fact. */
    static String text(JsonNode projection) {
        StringBuilder text = new StringBuilder("{\"facts\":[");
        String separator = "\n";
        for (JsonNode fact : projection.get("facts")) {
            text.append(separator).append(fact);
            separator = ",\n";
        }
        text.append("\n]");
        projection.properties().stream()
                .filter(field -> !field.getKey().equals("facts"))
                .forEach(field -> text.append(",\n\"")
                        .append(field.getKey())
                        .append("\":")
                        .append(field.getValue()));
        return text.append("}\n").toString();
    }

    /** The values in the state by their paths. The transcript is replaced by its digest. */
    private static Map<String, JsonNode> leaves(Conversation state) {
        Map<String, JsonNode> leaves = new TreeMap<>();
        add(leaves, "", PayloadJson.MAPPER.valueToTree(state.withTranscript(Transcript.EMPTY)));
        leaves.keySet().removeAll(COUNTED_BY_EACH_FACT);
        add(
                leaves,
                "transcriptDigest",
                PayloadJson.MAPPER.valueToTree(state.transcript().digest()));
        return leaves;
    }

    private static void add(Map<String, JsonNode> leaves, String path, JsonNode value) {
        if (value.isObject() && !value.isEmpty()) {
            value.properties()
                    .forEach(field -> add(
                            leaves, path.isEmpty() ? field.getKey() : path + "." + field.getKey(), field.getValue()));
        } else if (value.isArray() && !value.isEmpty()) {
            for (int i = 0; i < value.size(); i++) {
                add(leaves, path + "[" + i + "]", value.get(i));
            }
        } else {
            leaves.put(path, value);
        }
    }

    /** The differences between the states of this recorded history and those that are stored next to it. */
    static List<String> differences(Path file) throws IOException {
        JsonNode recorded = PayloadJson.MAPPER.readTree(Files.readString(RecordedHistoriesTest.expectedBeside(file)));
        return differences(recorded, of(RecordedHistoriesTest.read(file)));
    }

    /**
     * Describes how two projections of one history differ: the facts, what they change in the state, and the
     * checkpoint. Empty if they agree.
     */
    private static List<String> differences(JsonNode old, JsonNode now) {
        List<String> differences = new ArrayList<>();
        JsonNode facts = old.path("facts");
        JsonNode newFacts = now.path("facts");
        for (int i = 0; i < Math.max(facts.size(), newFacts.size()); i++) {
            String fact = facts.path(i).path("fact").asText(NOTHING);
            String newFact = newFacts.path(i).path("fact").asText(NOTHING);
            if (!fact.equals(newFact)) {
                differences.add("fact " + (i + 1) + ": " + fact + " -> " + newFact);
                continue;
            }
            JsonNode changes = facts.path(i).path("changes");
            JsonNode newChanges = newFacts.path(i).path("changes");
            for (String path : union(fields(changes), fields(newChanges))) {
                if (!changes.path(path).equals(newChanges.path(path))) {
                    differences.add(fact + " " + path + ": " + told(changes, path) + " -> " + told(newChanges, path));
                }
            }
        }
        for (String field : union(fields(old), fields(now))) {
            boolean isToldAlready = field.equals("facts") || (field.equals("state") && !differences.isEmpty());
            if (!isToldAlready && !old.path(field).equals(now.path(field))) {
                differences.add(field + ": " + told(old, field) + " -> " + told(now, field));
            }
        }
        return differences;
    }

    private static String told(JsonNode changes, String path) {
        return changes.has(path) ? Problem.cut(changes.get(path).toString(), MOST_SHOWN) : "absent";
    }

    private static Map<String, JsonNode> fields(JsonNode object) {
        Map<String, JsonNode> fields = new TreeMap<>();
        object.properties().forEach(field -> fields.put(field.getKey(), field.getValue()));
        return fields;
    }

    private static TreeSet<String> union(Map<String, JsonNode> some, Map<String, JsonNode> others) {
        TreeSet<String> all = new TreeSet<>(some.keySet());
        all.addAll(others.keySet());
        return all;
    }
}
