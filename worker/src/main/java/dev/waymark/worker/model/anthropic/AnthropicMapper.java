package dev.waymark.worker.model.anthropic;

import dev.waymark.agent.ModelOptions;
import dev.waymark.agent.ToolSpec;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Role;
import dev.waymark.conversation.value.Json;
import dev.waymark.model.ModelRequest;
import dev.waymark.model.adapter.AlternatingRoles;
import dev.waymark.worker.model.anthropic.MessagesRequest.Block;
import dev.waymark.worker.model.http.CallArguments;
import dev.waymark.worker.model.http.StrictSchema;
import dev.waymark.worker.model.http.ToolChoice;
import dev.waymark.worker.model.http.WireName;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Converts a request to the format of the Messages API. */
final class AnthropicMapper {
    /** Replaces empty text where the API requires text. */
    private static final String NOTHING = "(nothing)";

    private AnthropicMapper() {}

    static MessagesRequest request(ModelRequest request) {
        List<Block.Text> system = request.instructions()
                .filter(words -> !words.isBlank())
                .map(words -> List.of(Block.Text.of(words).marked()))
                .orElse(List.of());
        List<MessagesRequest.Tool> tools = tools(request);
        if (system.isEmpty() && !tools.isEmpty()) {
            int last = tools.size() - 1;
            tools.set(last, tools.get(last).marked());
        }
        List<MessagesRequest.Message> messages = messages(request);
        ModelOptions options = request.options();
        return new MessagesRequest(
                request.model(),
                request.maxTokens(),
                system,
                marked(messages),
                tools,
                toolChoice(request),
                options.temperature(),
                thinking(options, messages),
                outputConfig(request),
                options.serviceTier(),
                true);
    }

    private static Optional<MessagesRequest.OutputConfig> outputConfig(ModelRequest request) {
        Optional<MessagesRequest.Format> format =
                request.replySchema().flatMap(StrictSchema::of).map(MessagesRequest.Format::of);
        return Optional.of(new MessagesRequest.OutputConfig(request.options().effort(), format))
                .filter(config -> config.effort().isPresent() || config.format().isPresent());
    }

    private static Optional<MessagesRequest.ToolChoice> toolChoice(ModelRequest request) {
        Optional<ToolChoice> choice = ToolChoice.of(request);
        Optional<Boolean> single =
                request.options().parallelCalls().filter(parallel -> !parallel).map(parallel -> true);
        if (request.tools().isEmpty() || (choice.isEmpty() && single.isEmpty())) {
            return Optional.empty();
        }
        return Optional.of(choice.orElse(ToolChoice.AUTO)
                .match(
                        word -> new MessagesRequest.ToolChoice(
                                word.equals(ToolChoice.REQUIRED) ? "any" : word,
                                Optional.empty(),
                                word.equals(ToolChoice.NONE) ? Optional.empty() : single),
                        tool -> new MessagesRequest.ToolChoice("tool", Optional.of(tool), single)));
    }

    /**
     * Returns the setting for thinking. The API treats a reply with calls, their results and the replies that follow as
     * one turn, and thinking with a budget must start with the turn. It stays off in a turn that started without it or
     * with another model.
     */
    private static Optional<MessagesRequest.Thinking> thinking(
            ModelOptions options, List<MessagesRequest.Message> messages) {
        return options.thinking()
                .map(MessagesRequest.Thinking::of)
                .or(() -> options.thinkingBudget()
                        .filter(budget -> mayThink(messages))
                        .map(MessagesRequest.Thinking::upTo));
    }

    private static boolean mayThink(List<MessagesRequest.Message> messages) {
        int people = messages.size() - 1;
        while (people >= 2 && messages.get(people).content().stream().anyMatch(Block.ToolResult.class::isInstance)) {
            people -= 2;
        }
        boolean isNewTurn = people == messages.size() - 1;
        return isNewTurn || messages.get(people + 1).content().get(0) instanceof Block.Own;
    }

    /** The API requires that the first message is a user message. */
    private static List<MessagesRequest.Message> messages(ModelRequest request) {
        String model = request.model();
        List<MessagesRequest.Message> messages = new ArrayList<>();
        for (Message message : AlternatingRoles.alternating(
                request.messages(), reply -> !ofModel(reply.content(), model).isEmpty())) {
            boolean isReply = message.role() == Role.ASSISTANT;
            if (isReply && messages.isEmpty()) {
                messages.add(ofPeople(List.of()));
            }
            messages.add(
                    isReply
                            ? new MessagesRequest.Message(message.role().wireName(), ofModel(message.content(), model))
                            : ofPeople(message.content()));
        }
        return messages;
    }

    /** Puts tool results first, directly after their calls. */
    private static MessagesRequest.Message ofPeople(List<Part> parts) {
        List<Block> results = new ArrayList<>();
        List<Block> rest = new ArrayList<>();
        for (Part part : parts) {
            if (part instanceof Part.ToolResult result) {
                results.add(result(result));
            } else if (part instanceof Part.Text text && !text.text().isBlank()) {
                rest.add(Block.Text.of(text.text()));
            } else if (part instanceof Part.Image image) {
                rest.add(image(MessagesRequest.Source.url(image.url())));
            } else if (part instanceof Part.ImageData image) {
                rest.add(image(MessagesRequest.Source.base64(image.mimeType(), image.data())));
            }
        }
        results.addAll(rest);
        List<Block> blocks = results.isEmpty() ? List.of(Block.Text.of(NOTHING)) : results;
        return new MessagesRequest.Message(Role.USER.wireName(), blocks);
    }

    private static Block image(MessagesRequest.Source source) {
        return new Block.Image(source, Optional.empty());
    }

    private static Block result(Part.ToolResult result) {
        // The API rejects an error with empty content, but accepts a success with it.
        String content = result.isError() && result.told().isBlank() ? NOTHING : result.told();
        return new Block.ToolResult(WireName.ofCall(result.toolUseId()), content, result.isError(), Optional.empty());
    }

    private static List<Block> ofModel(List<Part> parts, String model) {
        List<Block> blocks = new ArrayList<>();
        for (Part part : parts) {
            if (part instanceof Part.Text text && !text.text().isBlank()) {
                blocks.add(Block.Text.of(text.text()));
            } else if (part instanceof Part.ToolUse use) {
                blocks.add(new Block.ToolUse(
                        WireName.ofCall(use.id()), WireName.ofTool(use.name()), CallArguments.sendable(use.input())));
            } else if (part instanceof Part.Reasoning reasoning) {
                OpaqueBlock.of(reasoning, model).map(Block.Own::new).ifPresent(blocks::add);
            }
        }
        // The API rejects a message that ends with a thinking block.
        while (!blocks.isEmpty() && blocks.get(blocks.size() - 1) instanceof Block.Own) {
            blocks.remove(blocks.size() - 1);
        }
        return blocks;
    }

    /**
     * Sets cache marks: on the newest user message, for the next call, and on the user message before it, which the
     * previous call marked. The cached prefix stays valid as long as the conversation only grows at its end.
     */
    private static List<MessagesRequest.Message> marked(List<MessagesRequest.Message> messages) {
        List<MessagesRequest.Message> marked = new ArrayList<>(messages);
        int left = 2;
        for (int i = marked.size() - 1; i >= 0 && left > 0; i--) {
            MessagesRequest.Message message = marked.get(i);
            if (message.role().equals(Role.USER.wireName())) {
                List<Block> blocks = new ArrayList<>(message.content());
                int last = blocks.size() - 1;
                blocks.set(last, blocks.get(last).marked());
                marked.set(i, new MessagesRequest.Message(message.role(), blocks));
                left--;
            }
        }
        return marked;
    }

    private static List<MessagesRequest.Tool> tools(ModelRequest request) {
        List<MessagesRequest.Tool> tools = new ArrayList<>();
        for (ToolSpec tool : request.tools()) {
            tools.add(new MessagesRequest.Tool(tool.name(), tool.description(), tool.input(), Optional.empty()));
        }
        if (tools.isEmpty()) {
            // The API rejects tool calls in the conversation if the request defines no tools, and this agent may have
            // had tools earlier.
            called(request.messages())
                    .forEach(name -> tools.add(new MessagesRequest.Tool(
                            name, "Not available any more.", Json.of(Map.of("type", "object")), Optional.empty())));
        }
        return tools;
    }

    private static Set<String> called(List<Message> messages) {
        Set<String> names = new LinkedHashSet<>();
        for (Message message : messages) {
            message.toolUses().forEach(use -> names.add(WireName.ofTool(use.name())));
        }
        return names;
    }
}
