package dev.waymark.testkit.model;

import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Role;
import dev.waymark.conversation.value.Json;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Valid conversations that services reject when they are sent unchanged, by name. */
public final class HardTranscripts {
    private static final Json TOKYO = Json.of(Map.of("city", "Tokyo"));

    private HardTranscripts() {}

    /** The transcripts, by a description of what makes them hard. */
    public static Map<String, List<Message>> all() {
        Map<String, List<Message>> all = new LinkedHashMap<>();
        all.put("two messages of a person in a row", List.of(Message.user("Hi"), Message.user("Are you there?")));
        all.put(
                "results, and then a word of a person",
                List.of(
                        Message.user("Weather?"),
                        Message.assistant(call("tu_1"), call("tu_2")),
                        Message.results(List.of(result("tu_1", "rain"), result("tu_2", "sun"))),
                        Message.user("Quick!")));
        all.put("a call that was renamed", answered("tu_7~2", "rain"));
        all.put("a call id of 200 characters", answered("c".repeat(200), "rain"));
        all.put("an id with letters of another script", answered("поиск/1", "rain"));
        all.put("an empty result", answered("tu_1", ""));
        all.put(
                "an error without a word",
                List.of(
                        Message.user("Weather?"),
                        Message.assistant(call("tu_1")),
                        Message.results(List.of(new Part.ToolResult("tu_1", "", true)))));
        all.put(
                "arguments that are not JSON",
                List.of(
                        Message.user("Weather?"),
                        Message.assistant(new Part.ToolUse("tu_1", "weather", Json.of("{\"city\": "))),
                        Message.results(List.of(new Part.ToolResult("tu_1", "Invalid input", true)))));
        all.put(
                "a tool that a model made up",
                List.of(
                        Message.user("Weather?"),
                        Message.assistant(new Part.ToolUse("tu_1", "weather.of the city!", TOKYO)),
                        Message.results(List.of(new Part.ToolResult("tu_1", "not found", true)))));
        all.put(
                "thoughts of somebody else",
                List.of(
                        Message.user("Weather?"),
                        new Message(Role.ASSISTANT, List.of(foreign(), call("tu_1"))),
                        Message.results(List.of(result("tu_1", "rain")))));
        all.put(
                "nothing but thoughts",
                List.of(Message.user("Weather?"), Message.assistant(foreign()), Message.user("Say it.")));
        all.put("a reply of spaces", List.of(Message.user("Hi"), Message.assistant(text("  ")), Message.user("What?")));
        all.put("a message of spaces", List.of(Message.user("   ")));
        all.put("a model that speaks first", List.of(Message.assistant(text("Welcome.")), Message.user("Hi")));
        all.put(
                "two replies in a row",
                List.of(
                        Message.user("Hi"),
                        Message.assistant(text("Well,")),
                        Message.assistant(text("hello.")),
                        Message.user("Hm.")));
        all.put(
                "images",
                List.of(new Message(
                        Role.USER,
                        List.of(
                                text("What is it?"),
                                new Part.Image("https://images.example/cat.png", Optional.empty()),
                                new Part.ImageData("iVBORw0KGgo=", "image/png")))));
        return all;
    }

    private static List<Message> answered(String id, String result) {
        return List.of(
                Message.user("Weather?"), Message.assistant(call(id)), Message.results(List.of(result(id, result))));
    }

    private static Part text(String words) {
        return new Part.Text(words);
    }

    private static Part.ToolUse call(String id) {
        return new Part.ToolUse(id, "weather", TOKYO);
    }

    private static Part.ToolResult result(String id, String content) {
        return new Part.ToolResult(id, content, false);
    }

    private static Part foreign() {
        return new Part.Reasoning(
                "Hm.", Json.of(Map.of("provider", "elsewhere", "model", "m", "block", Map.of("type", "thinking"))));
    }
}
