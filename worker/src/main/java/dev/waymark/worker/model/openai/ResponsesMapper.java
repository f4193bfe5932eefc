package dev.waymark.worker.model.openai;

import dev.waymark.agent.ModelOptions;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Role;
import dev.waymark.model.ModelRequest;
import dev.waymark.model.adapter.AlternatingRoles;
import dev.waymark.worker.model.http.SentCall;
import dev.waymark.worker.model.http.StrictSchema;
import dev.waymark.worker.model.http.ToolChoice;
import dev.waymark.worker.model.http.WireName;
import dev.waymark.worker.model.openai.ResponsesRequest.Content;
import dev.waymark.worker.model.openai.ResponsesRequest.Item;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Converts a request to the format of the Responses API. */
final class ResponsesMapper {
    private static final List<String> ENCRYPTED = List.of("reasoning.encrypted_content");

    /** The service rejects a smaller limit. */
    private static final int LEAST_TOKENS = 16;

    private ResponsesMapper() {}

    /** @param encrypted whether to request the model's reasoning in encrypted form */
    static ResponsesRequest request(ModelRequest request, boolean encrypted) {
        List<Item> input = new ArrayList<>();
        for (Message message : AlternatingRoles.alternating(
                readable(request),
                reply -> !ofModel(reply.content(), request.model()).isEmpty())) {
            input.addAll(
                    message.role() == Role.USER
                            ? ofPeople(message.content())
                            : ofModel(message.content(), request.model()));
        }
        return new ResponsesRequest(
                request.model(),
                request.instructions().filter(words -> !words.isBlank()),
                input,
                request.tools().stream()
                        .map(tool -> ResponsesRequest.Tool.of(tool.name(), tool.description(), tool.input()))
                        .toList(),
                OpenAiMapper.tooled(request)
                        .flatMap(ToolChoice::of)
                        .map(choice -> choice.match(word -> word, ResponsesRequest.NamedTool::of)),
                OpenAiMapper.tooled(request).flatMap(tools -> tools.options().parallelCalls()),
                request.replySchema().flatMap(StrictSchema::of).map(ResponsesRequest.Text::of),
                Math.max(LEAST_TOKENS, request.maxTokens()),
                request.options().temperature(),
                reasoning(request.options()),
                request.options().serviceTier(),
                request.cacheKey(),
                encrypted ? ENCRYPTED : List.of(),
                false,
                true);
    }

    /**
     * The effort, and whether reasoning is shown. It is not shown by default: the service refuses this to organizations
     * that it has not verified.
     */
    private static Optional<ResponsesRequest.Reasoning> reasoning(ModelOptions options) {
        Optional<String> summary = options.thinkingDisplay()
                .filter(ModelOptions.THINKING_SUMMARIZED::equals)
                .map(shown -> "auto");
        return Optional.of(new ResponsesRequest.Reasoning(options.effort(), summary))
                .filter(set -> set.effort().isPresent() || set.summary().isPresent());
    }

    /** The messages without the reasoning that the service refused to read. */
    private static List<Message> readable(ModelRequest request) {
        List<Message> messages = new ArrayList<>(request.messages());
        for (int i = 0; i < Math.min(request.unreadableBefore(), messages.size()); i++) {
            Message message = messages.get(i);
            List<Part> parts = message.content().stream()
                    .filter(part -> !(part instanceof Part.Reasoning reasoning
                            && ResponseItems.item(reasoning).isPresent()))
                    .toList();
            messages.set(i, new Message(message.role(), parts));
        }
        return messages;
    }

    private static List<Item> ofPeople(List<Part> parts) {
        List<Item> items = new ArrayList<>();
        List<Content> content = new ArrayList<>();
        for (Part part : parts) {
            if (part instanceof Part.ToolResult result) {
                items.add(new Item.Output(WireName.ofCall(result.toolUseId()), result.told()));
            } else if (part instanceof Part.Text text) {
                content.add(new Content.Text(text.text()));
            } else if (part instanceof Part.Image image) {
                content.add(Content.Image.of(image.url()));
            } else if (part instanceof Part.ImageData image) {
                content.add(Content.Image.of(OpenAiMapper.dataUrl(image)));
            }
        }
        if (!content.isEmpty()) {
            items.add(new Item.User(content));
        }
        return items;
    }

    /** Converts a reply. Drops reasoning at its end, because the service rejects reasoning that nothing follows. */
    private static List<Item> ofModel(List<Part> parts, String model) {
        List<Item> items = new ArrayList<>();
        Optional<String> phase = Optional.empty();
        for (Part part : parts) {
            if (part instanceof Part.Reasoning reasoning && ResponseItems.areOf(reasoning, model)) {
                phase = ResponseItems.phase(reasoning);
                ResponseItems.item(reasoning).map(Item.Thought::new).ifPresent(items::add);
            } else if (part instanceof Part.Text text && !text.text().isEmpty()) {
                items.add(new Item.Assistant(text.text(), phase));
                phase = Optional.empty();
            } else if (part instanceof Part.ToolUse use) {
                items.add(new Item.Call(WireName.ofCall(use.id()), WireName.ofTool(use.name()), SentCall.text(use)));
            }
        }
        while (!items.isEmpty() && items.get(items.size() - 1) instanceof Item.Thought) {
            items.remove(items.size() - 1);
        }
        return items;
    }
}
