package dev.waymark.worker.model.anthropic;

import com.fasterxml.jackson.databind.util.RawValue;
import dev.waymark.agent.ModelOptions;
import dev.waymark.agent.ToolSpec;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Role;
import dev.waymark.conversation.value.Json;
import dev.waymark.model.ModelRequest;
import dev.waymark.worker.model.anthropic.MessagesRequest.Block;
import dev.waymark.worker.model.http.CallArguments;
import dev.waymark.worker.model.http.SentCall;
import dev.waymark.worker.model.http.StrictSchema;
import dev.waymark.worker.model.http.ToolChoice;
import dev.waymark.worker.model.http.WireName;
import dev.waymark.worker.model.table.KnownModel;
import dev.waymark.worker.model.table.ModelTable;
import dev.waymark.worker.model.table.Unsupported;
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
        MessagesRequest.CacheMark mark =
                MessagesRequest.CacheMark.lasting(request.options().cache().filter(ModelOptions.CACHE_AN_HOUR::equals));
        List<Block.Text> system = request.instructions()
                .filter(words -> !words.isBlank())
                .map(words -> List.of(Block.Text.of(words).marked(mark)))
                .orElse(List.of());
        List<MessagesRequest.Tool> tools = tools(request);
        if (system.isEmpty() && !tools.isEmpty()) {
            int last = tools.size() - 1;
            tools.set(last, tools.get(last).marked(mark));
        }
        List<MessagesRequest.Message> messages = messages(request);
        ModelOptions options = request.options();
        return new MessagesRequest(
                request.model(),
                request.maxTokens(),
                system,
                marked(messages, mark),
                tools,
                toolChoice(request),
                options.temperature(),
                thinking(request, messages),
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
     * Returns the setting for thinking. By default, thinking is shown: between calls, current models write only
     * thinking, and hide it unless the request asks for it. The API treats a reply with calls, their results and the
     * replies that follow as one turn, and thinking with a budget must start with the turn. It stays off in a turn that
     * started without it or with another model.
     */
    private static Optional<MessagesRequest.Thinking> thinking(
            ModelRequest request, List<MessagesRequest.Message> messages) {
        ModelOptions options = request.options();
        if (options.thinkingBudget().isPresent()) {
            return options.thinkingBudget()
                    .filter(budget -> mayThink(messages))
                    .map(budget ->
                            new MessagesRequest.Thinking("enabled", Optional.of(budget), options.thinkingDisplay()));
        }
        Optional<String> type = options.thinking().or(() -> defaultThinking(request));
        return type.map(word -> new MessagesRequest.Thinking(
                word,
                Optional.empty(),
                word.equals(AnthropicProvider.DISABLED)
                        ? Optional.empty()
                        : options.thinkingDisplay().or(() -> Optional.of(ModelOptions.THINKING_SUMMARIZED))));
    }

    /**
     * The thinking of a model that thinks by default; empty if it does not, or if an option is incompatible with
     * thinking.
     */
    private static Optional<String> defaultThinking(ModelRequest request) {
        ModelOptions options = request.options();
        boolean isFree = options.temperature().isEmpty()
                && options.toolChoice()
                        .map(ToolChoice::new)
                        .filter(ToolChoice::demandsCall)
                        .isEmpty();
        return isFree && known(request.model()).hidesThinking()
                ? Optional.of(AnthropicProvider.ADAPTIVE)
                : Optional.empty();
    }

    private static boolean mayThink(List<MessagesRequest.Message> messages) {
        int last = messages.size() - 1;
        while (last >= 0) {
            int first = last;
            while (first > 0 && !isReply(messages.get(first - 1))) {
                first--;
            }
            boolean isNewTurn = messages.subList(first, last + 1).stream().noneMatch(AnthropicMapper::hasResults);
            if (isNewTurn || first == 0) {
                return last == messages.size() - 1
                        || messages.get(last + 1).content().get(0) instanceof Block.Own;
            }
            last = first - 2; // The message before the reply that requested these results.
        }
        return false;
    }

    private static boolean isReply(MessagesRequest.Message message) {
        return message.role().equals(Role.ASSISTANT.wireName());
    }

    private static boolean hasResults(MessagesRequest.Message message) {
        return message.content().stream().anyMatch(Block.ToolResult.class::isInstance);
    }

    /**
     * Converts the messages one by one, so that a message that was sent never changes. The API requires that the first
     * message is a user message, and that all results of a reply are in the next message.
     */
    private static List<MessagesRequest.Message> messages(ModelRequest request) {
        int readable = Math.max(request.boundFrom(), request.unreadableBefore());
        List<MessagesRequest.Message> messages = new ArrayList<>();
        for (int i = 0; i < request.messages().size(); i++) {
            Message message = request.messages().get(i);
            int last = messages.size() - 1;
            if (message.role() == Role.ASSISTANT) {
                List<Block> blocks = ofModel(message.content(), request.model(), i >= readable);
                if (blocks.isEmpty()) {
                    continue;
                }
                if (last < 0) {
                    messages.add(ofPeople(List.of()));
                }
                if (last >= 0 && isReply(messages.get(last))) {
                    messages.set(last, joined(messages.get(last), blocks));
                } else {
                    messages.add(new MessagesRequest.Message(message.role().wireName(), blocks));
                }
            } else {
                MessagesRequest.Message said = ofPeople(message.content());
                boolean isLate = last >= 0 && !isReply(messages.get(last)) && hasResults(said);
                if (isLate) {
                    messages.set(last, joined(said, messages.get(last).content()));
                } else {
                    messages.add(said);
                }
            }
        }
        return messages;
    }

    private static MessagesRequest.Message joined(MessagesRequest.Message message, List<Block> more) {
        List<Block> blocks = new ArrayList<>(message.content());
        blocks.addAll(more);
        return new MessagesRequest.Message(message.role(), blocks);
    }

    /** Puts tool results first, directly after their calls. */
    private static MessagesRequest.Message ofPeople(List<Part> parts) {
        List<Block> results = new ArrayList<>();
        List<Block> rest = new ArrayList<>();
        for (Part part : parts) {
            if (part instanceof Part.ToolResult result) {
                results.add(result(result));
            } else if (part instanceof Part.Text text) {
                rest.add(Block.Text.of(text.text().isBlank() ? NOTHING : text.text()));
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

    /**
     * Converts a reply. Leaves out empty text, and a reply that contains only blank text: the API rejects both.
     *
     * @param isReadable whether the service accepts the reply's own reasoning
     */
    private static List<Block> ofModel(List<Part> parts, String model, boolean isReadable) {
        List<Block> blocks = new ArrayList<>();
        for (Part part : parts) {
            if (part instanceof Part.Text text && !text.text().isEmpty()) {
                blocks.add(Block.Text.of(text.text()));
            } else if (part instanceof Part.ToolUse use) {
                blocks.add(new Block.ToolUse(
                        WireName.ofCall(use.id()),
                        WireName.ofTool(use.name()),
                        SentCall.spelling(use)
                                .<Object>map(RawValue::new)
                                .orElseGet(() -> CallArguments.sendable(use.input())),
                        SentCall.fields(use)));
            } else if (part instanceof Part.Reasoning reasoning && (isReadable || !OpaqueBlock.isBound(reasoning))) {
                OpaqueBlock.of(reasoning, model).map(Block.Own::new).ifPresent(blocks::add);
            }
        }
        while (!blocks.isEmpty()
                && blocks.get(blocks.size() - 1) instanceof Block.Own
                && known(model).refuses(Unsupported.TRAILING_THINKING)) {
            blocks.remove(blocks.size() - 1);
        }
        boolean saysSomething = blocks.stream()
                .anyMatch(block ->
                        !(block instanceof Block.Text text && text.text().isBlank()));
        return saysSomething ? blocks : List.of();
    }

    /** Gateways prefix the service's model names. */
    private static KnownModel known(String model) {
        return ModelTable.builtIn().of(AnthropicProvider.NAME + ":" + model.replaceFirst("^.*[./](?=claude-)", ""));
    }

    /**
     * Sets cache marks: on the newest message of people, for the next call, and on the newest one before the last
     * reply, which the previous call marked. The cached prefix stays valid as long as the conversation only grows at
     * its end.
     */
    private static List<MessagesRequest.Message> marked(
            List<MessagesRequest.Message> messages, MessagesRequest.CacheMark mark) {
        List<MessagesRequest.Message> marked = new ArrayList<>(messages);
        int last = marked.size() - 1;
        mark(marked, last, mark);
        while (last >= 0 && !isReply(marked.get(last))) {
            last--;
        }
        while (last >= 0 && isReply(marked.get(last))) {
            last--;
        }
        mark(marked, last, mark);
        return marked;
    }

    private static void mark(List<MessagesRequest.Message> messages, int index, MessagesRequest.CacheMark mark) {
        if (index >= 0 && !isReply(messages.get(index))) {
            MessagesRequest.Message message = messages.get(index);
            List<Block> blocks = new ArrayList<>(message.content());
            int last = blocks.size() - 1;
            blocks.set(last, blocks.get(last).marked(mark));
            messages.set(index, new MessagesRequest.Message(message.role(), blocks));
        }
    }

    private static List<MessagesRequest.Tool> tools(ModelRequest request) {
        List<MessagesRequest.Tool> tools = new ArrayList<>();
        for (ToolSpec tool : request.tools()) {
            tools.add(new MessagesRequest.Tool(tool.name(), tool.description(), tool.input(), Optional.empty()));
        }
        if (tools.isEmpty()) {
            // The API rejects tool calls in the conversation if the request defines no tools. If the conversation began
            // with another agent, only the tools that were called there are defined here.
            int begun = Math.min(request.boundFrom(), request.messages().size());
            Set<String> names = called(request.messages().subList(0, begun));
            (names.isEmpty() ? called(request.messages()) : names)
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
