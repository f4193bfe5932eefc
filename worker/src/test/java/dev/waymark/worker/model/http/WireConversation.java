package dev.waymark.worker.model.http;

import com.fasterxml.jackson.core.JsonProcessingException;
import dev.waymark.agent.ModelOptions;
import dev.waymark.agent.ToolSpec;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Role;
import dev.waymark.conversation.value.Json;
import dev.waymark.model.ModelRequest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** A request that contains everything that a wire format can express. */
public final class WireConversation {
    private WireConversation() {}

    /** @param thought the reasoning of the model that is called */
    public static ModelRequest withEverything(Part.Reasoning thought) {
        Map<String, Object> args = new LinkedHashMap<>();
        args.put("city", "Zürich");
        args.put("when", null);
        args.put("at", Arrays.asList(1, 2.5, null));
        List<Message> messages = List.of(
                new Message(
                        Role.USER,
                        List.of(
                                new Part.Text("Here, and there?"),
                                new Part.Image("https://images.example/there.png", Optional.of("image/png")),
                                new Part.ImageData("aGVyZQ==", "image/jpeg"))),
                new Message(
                        Role.ASSISTANT,
                        List.of(
                                thought,
                                new Part.Text("One moment."),
                                new Part.ToolUse("tu_1", "weather", Json.of(args)),
                                new Part.ToolUse("tu_1~2", "weather", Json.of("{broken")))),
                Message.results(List.of(
                        new Part.ToolResult("tu_1", "rain", false),
                        new Part.ToolResult("tu_1~2", "Invalid input", true))),
                Message.user("And?"),
                Message.user("Quick!"));
        ToolSpec weather = ToolSpec.java("weather")
                .describedAs("The weather", Json.of(Map.of("type", "object")))
                .build();
        ToolSpec bare = ToolSpec.java("bare").build();
        return new ModelRequest("m-1", Optional.of("Be brief."), messages, List.of(weather, bare), 100);
    }

    /**
     * A longer request for a reply that matches a schema, with blank and repeated reasoning, and an error without text.
     *
     * @param model a name that the service's client knows
     * @param thought the reasoning before calls
     * @param last the reasoning before the last reply
     */
    public static ModelRequest rich(String model, Part.Reasoning thought, Part.Reasoning last, ModelOptions options) {
        ModelRequest request = withEverything(thought);
        List<Message> messages = new ArrayList<>(request.messages());
        messages.add(Message.assistant(
                last,
                new Part.Text("\n\n"),
                new Part.Text("Rain, and more rain."),
                new Part.ToolUse("tu_2", "bare", Json.EMPTY_OBJECT)));
        messages.add(Message.results(List.of(new Part.ToolResult("tu_2", "", true))));
        messages.add(Message.user("As JSON, please."));
        Json schema = ordered("{'type':'object','properties':{'city':{'type':'string','description':'Its name'}},"
                + "'required':['city'],'additionalProperties':false}");
        return request.withMessages(messages)
                .to(model, options)
                .withReplySchema(Optional.of(schema))
                .withCacheKey(Optional.of("0a1b2c"));
    }

    /** Parses JSON with single quotes. The fields keep their order, unlike those of {@link Map#of}. */
    public static Json ordered(String json) {
        try {
            return Json.of(ProviderJson.MAPPER.readValue(json.replace('\'', '"'), Object.class));
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException(json, e);
        }
    }
}
