package dev.waymark.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ContainerNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.contract.CarriedState;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.Resumption;
import dev.waymark.conversation.Step;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.fact.ModelFact;
import dev.waymark.conversation.fact.ThreadFact;
import dev.waymark.conversation.fact.ToolFact;
import dev.waymark.conversation.message.Pairing;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.policy.AgentPolicy;
import dev.waymark.conversation.rule.Rules;
import dev.waymark.history.Moment;
import dev.waymark.history.Timeline;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collector;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Files of other programs, damaged in many ways: fields dropped, changed, moved or renamed, duplicate ids, wrong types,
 * huge numbers, deep nesting, truncated files, NUL, bytes that are not text. Each file is refused as corrupt, or a
 * thread continues from it correctly: no call that has an outcome runs again, no call with side effects runs that may
 * have started before, each call has one result before the model is called, and every format can show the state.
 */
@Tag("full")
class MutatedForeignFilesTest {
    private static final Instant NOW = Instant.parse("2026-06-01T09:00:00Z");
    private static final JsonMapper JSON = new JsonMapper();
    private static final int MUTANTS = Integer.getInteger("waymark.mutants", 300);
    private static final int MOST_STEPS = 60;

    private static final List<String> ODDITIES = List.of(
            "null",
            "true",
            "-1",
            "0",
            "1.5",
            "1e400",
            "-1e400",
            "9".repeat(30),
            "9".repeat(3_000),
            "\"\"",
            "\" \"",
            "\"\\u0000\"",
            "\"\\ud800\"",
            "\"\\u202e\\u001b[2J\"",
            "\"" + "x".repeat(3_000) + "\"",
            "[]",
            "{}",
            "[[]]",
            "{\"\":{}}",
            "[".repeat(90) + "]".repeat(90),
            "[".repeat(5_000) + "]".repeat(5_000),
            "{\"a\":".repeat(2_000) + "1" + "}".repeat(2_000),
            "{\"a\":1,\"a\":2}");

    /** Placeholder for a value that is inserted as text, because no JSON library would write it. */
    private static final String HOLE = "@@hole@@";

    private static byte[] file(String name) {
        try (InputStream in = MutatedForeignFilesTest.class.getResourceAsStream("/foreign/" + name)) {
            return Objects.requireNonNull(in, name).readAllBytes();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "runner-asking.json",
                "runner-complete.json",
                "runner-empty-reply.json",
                "thread-summarised.json",
                "thread-with-tools.json",
                "phases-with-effects.jsonl",
                "phases.jsonl",
                "phases-result.json",
                "messages-system.json",
                "session-ahead.json"
            })
    void damagedFile_isRefusedOrContinuesCorrectly(String name) throws IOException {
        byte[] whole = file(name);
        resume(whole, name + " as it is");
        int goneOn = 0;
        for (int seed = 0; seed < MUTANTS; seed++) {
            byte[] mutant = mutant(whole, new Random(seed));
            goneOn += resume(mutant, name + ", seed " + seed) ? 1 : 0;
        }
        // If fewer files were accepted, the mutations would be too coarse to find anything; if more, too harmless.
        assertThat(goneOn).isBetween(MUTANTS / 50, MUTANTS - MUTANTS / 20);
    }

    /** Returns whether the text was read as a checkpoint. */
    private static boolean resume(byte[] text, String what) {
        try {
            RestoredCheckpoint restored = CheckpointReader.read(text, NOW);
            goOn(restored, Optional.empty(), text);
            goOn(restored, Optional.of("An answer"), text);
            return true;
        } catch (CheckpointCorruption e) {
            assertThat(e.getMessage()).as(what).hasSizeLessThan(1_000);
            return false;
        } catch (RuntimeException | AssertionError | StackOverflowError e) {
            return fail(what + "\n" + new String(text, 0, Math.min(4_000, text.length), StandardCharsets.UTF_8), e);
        }
    }

    /** Resumes the checkpoint as a client and a worker do, and runs the conversation to its end. */
    private static void goOn(RestoredCheckpoint restored, Optional<String> answer, byte[] text) {
        Resumption how = new Resumption("r", Optional.empty(), answer, Optional.empty(), false, Optional.empty());
        if (how.refusal(restored.state()).isPresent()) {
            return;
        }
        Conversation begin = Rules.resume(restored.state(), how, NOW);
        String packed = new CarriedState(begin, Optional.empty()).pack();
        Conversation state = CarriedState.unpack(packed).state();
        assertThat(state).isEqualTo(begin);
        Set<String> ended = outcomes(text);
        boolean batchIsOver = new String(text, StandardCharsets.UTF_8).contains("\"phase\": \"post_tool_batch\"");
        boolean isPhases = restored.format() == CheckpointFormat.PHASES;
        Set<String> known = new LinkedHashSet<>();
        state.calls().forEach((id, call) -> known.add(id));
        List<String> ran = new ArrayList<>();
        Instant now = NOW;
        show(state);
        for (int i = 0; i < MOST_STEPS; i++) {
            Optional<Step> next = Rules.nextSteps(state).stream().findFirst();
            if (next.isEmpty() || next.get() instanceof Step.Close) {
                break;
            }
            if (next.get() instanceof Step.RunTool run) {
                String id = run.call().id();
                assertThat(ran).as("runs once").doesNotContain(id);
                if (known.contains(id)) {
                    assertThat(isPhases && !batchIsOver)
                            .as("may have been begun: " + id)
                            .isTrue();
                    assertThat(ended).as("has an outcome").doesNotContain(id);
                }
                ran.add(id);
            }
            now = next.get() instanceof Step.WakeAt wake ? later(wake.time(), now) : now.plusMillis(1);
            state = carriedOut(state, next.get(), now);
        }
        show(state);
    }

    private static Instant later(Instant one, Instant other) {
        return one.isAfter(other) ? one : other;
    }

    private static Conversation carriedOut(Conversation before, Step step, Instant now) {
        if (step instanceof Step.ResolveAgent) {
            return Rules.apply(
                    Rules.apply(before, new ThreadFact.AgentRequested(), now),
                    new ThreadFact.AgentResolved(everyToolHasEffects(before)),
                    now);
        }
        if (step instanceof Step.CallModel call) {
            Conversation called = Rules.apply(before, new ModelFact.ModelCalled(call.step()), now);
            assertThat(Pairing.violation(called.transcript().messages())).isEmpty();
            return Rules.apply(called, new ModelFact.ModelReplied(call.step(), Reply.of(new Part.Text("Done."))), now);
        }
        if (step instanceof Step.RunTool run) {
            Call call = run.call();
            return Rules.apply(
                    Rules.apply(
                            Rules.apply(before, new ToolFact.ToolDispatched(call.id(), run.dispatch()), now),
                            new ToolFact.ToolClaimed(
                                    call.id(),
                                    run.dispatch(),
                                    call.tool(),
                                    call.argsDigest(),
                                    before.repeatOf(call),
                                    "run-1/" + call.id(),
                                    false),
                            now),
                    new ToolFact.ToolFinished(call.id(), run.dispatch(), "done", false),
                    now);
        }
        if (step instanceof Step.WakeAt) {
            return Rules.apply(before, new ThreadFact.TimePassed(), now);
        }
        throw new AssertionError("not expected of a file: " + step);
    }

    /** A policy with all tools that the file calls. Each has side effects, except for {@code ask_user}. */
    private static AgentPolicy everyToolHasEffects(Conversation state) {
        Map<String, AgentPolicy.Executor> tools = new LinkedHashMap<>();
        Map<String, AgentPolicy.ToolPolicy> policies = new LinkedHashMap<>();
        state.calls().forEach((id, call) -> {
            tools.put(call.tool(), AgentPolicy.Executor.ACTIVITY);
            policies.put(
                    call.tool(), new AgentPolicy.ToolPolicy(true, false, false, false, false, 1_000, false, false));
        });
        tools.put("ask_user", AgentPolicy.Executor.QUESTION);
        policies.remove("ask_user");
        return new AgentPolicy("helper", 50, tools, policies, Optional.empty());
    }

    /** Checks that every format can show the state as canonical JSON. */
    private static void show(Conversation state) {
        Moment moment = new Moment("run-1", 1, state.updatedAt(), Optional.empty(), state);
        Timeline timeline =
                new Timeline("t1", "run-1", List.of(moment), state, Optional.empty(), Optional.empty(), 1, false);
        for (CheckpointFormat format : CheckpointFormat.values()) {
            format.view(timeline).canonical();
        }
    }

    /** Returns the ids of the calls for which the text has an outcome, in any format. */
    private static Set<String> outcomes(byte[] text) {
        Set<String> ids = new LinkedHashSet<>();
        try (var documents = JSON.readerFor(JsonNode.class).<JsonNode>readValues(text)) {
            documents.forEachRemaining(document -> collectOutcomes(document, ids));
        } catch (IOException | RuntimeException e) {
            return ids;
        }
        return ids;
    }

    private static void collectOutcomes(JsonNode node, Set<String> ids) {
        boolean hasOutcome =
                Stream.of("content", "output", "success", "result_text").anyMatch(node::hasNonNull);
        if (hasOutcome) {
            Stream.of("toolUseId", "toolCallId", "tool_call_id", "call_id")
                    .map(node::get)
                    .filter(Objects::nonNull)
                    .map(JsonNode::asText)
                    .forEach(ids::add);
        }
        if (node.get("effects") instanceof ObjectNode effects) {
            effects.fieldNames().forEachRemaining(ids::add);
        }
        node.forEach(child -> collectOutcomes(child, ids));
    }

    private static byte[] mutant(byte[] whole, Random random) throws IOException {
        List<JsonNode> documents = new ArrayList<>();
        try (var each = JSON.readerFor(JsonNode.class).<JsonNode>readValues(whole)) {
            each.forEachRemaining(documents::add);
        }
        if (documents.size() > 1 && random.nextInt(3) == 0) {
            documents
                    .subList(1 + random.nextInt(documents.size() - 1), documents.size())
                    .clear();
        }
        if (documents.size() > 1 && random.nextInt(6) == 0) {
            int at = random.nextInt(documents.size());
            switch (random.nextInt(3)) {
                case 0 -> documents.remove(at);
                case 1 -> documents.add(at, documents.get(random.nextInt(documents.size())));
                default -> documents.add(documents.remove(at));
            }
        }
        List<String> fillings = new ArrayList<>();
        int changes = 1 + random.nextInt(2);
        for (int i = 0; i < changes && random.nextInt(8) != 0; i++) {
            int at = random.nextInt(documents.size());
            documents.set(at, documents.get(at).deepCopy());
            change(documents.get(at), random, fillings);
        }
        // The library reads a list as a sequence of its elements.
        Collector<CharSequence, ?, String> joined =
                whole[0] == '[' ? Collectors.joining(",", "[", "]") : Collectors.joining("\n");
        String text = documents.stream().map(JsonNode::toString).collect(joined);
        text = text.replace("\"phase\":\"", "\"phase\": \"");
        for (String filling : fillings) {
            text = text.replaceFirst("\"" + HOLE + "\"", java.util.regex.Matcher.quoteReplacement(filling));
        }
        return random.nextInt(6) == 0
                ? bytesChanged(text.getBytes(StandardCharsets.UTF_8), random)
                : text.getBytes(StandardCharsets.UTF_8);
    }

    private static void change(JsonNode document, Random random, List<String> fillings) {
        List<ContainerNode<?>> places = new ArrayList<>();
        List<JsonNode> values = new ArrayList<>();
        collect(document, places, values);
        ContainerNode<?> place = places.get(random.nextInt(places.size()));
        JsonNode other = values.get(random.nextInt(values.size())).deepCopy();
        if (place instanceof ObjectNode object && !object.isEmpty()) {
            List<String> names = new ArrayList<>();
            object.fieldNames().forEachRemaining(names::add);
            String name = names.get(random.nextInt(names.size()));
            switch (random.nextInt(6)) {
                case 0 -> object.remove(name);
                case 1 -> object.set(name, other);
                case 2 -> object.set(name + (random.nextBoolean() ? "2" : " "), object.remove(name));
                case 3 -> object.set(name, object.remove(name));
                case 4 -> object.set(names.get(random.nextInt(names.size())), object.get(name));
                default -> {
                    object.put(name, HOLE);
                    fillings.add(ODDITIES.get(random.nextInt(ODDITIES.size())));
                }
            }
        } else if (place instanceof ArrayNode array && !array.isEmpty()) {
            int at = random.nextInt(array.size());
            switch (random.nextInt(5)) {
                case 0 -> array.remove(at);
                case 1 -> array.insert(random.nextInt(array.size() + 1), array.get(at));
                case 2 -> array.insert(random.nextInt(array.size()), array.remove(at));
                case 3 -> array.set(at, other);
                default -> {
                    array.set(at, array.textNode(HOLE));
                    fillings.add(ODDITIES.get(random.nextInt(ODDITIES.size())));
                }
            }
        }
    }

    private static void collect(JsonNode node, List<ContainerNode<?>> places, List<JsonNode> values) {
        values.add(node);
        if (node instanceof ContainerNode<?> container) {
            places.add(container);
            container.forEach(child -> collect(child, places, values));
        }
    }

    private static byte[] bytesChanged(byte[] text, Random random) {
        int at = random.nextInt(text.length);
        ByteArrayOutputStream changed = new ByteArrayOutputStream();
        switch (random.nextInt(4)) {
            case 0 -> changed.write(text, 0, at);
            case 1 -> {
                changed.write(text, 0, at);
                changed.writeBytes(new byte[] {(byte) 0xff, (byte) 0xfe});
                changed.write(text, at, text.length - at);
            }
            case 2 -> {
                changed.write(text, 0, at);
                changed.write(0);
                changed.write(text, at, text.length - at);
            }
            default -> {
                changed.writeBytes(new byte[] {(byte) 0xef, (byte) 0xbb, (byte) 0xbf});
                changed.writeBytes(text);
            }
        }
        return changed.toByteArray();
    }
}
