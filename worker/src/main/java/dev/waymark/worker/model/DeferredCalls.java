package dev.waymark.worker.model;

import dev.waymark.agent.AgentSpec;
import dev.waymark.agent.DeferredTools;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.value.Json;
import dev.waymark.worker.model.http.CallArguments;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Calls of deferred tools. A thread records them with the tool's own name and arguments, so that everything that decides
 * about calls knows only those. The model is sent them as it wrote them: as calls of {@code use_tool}.
 */
final class DeferredCalls {
    /** The field of {@link Part.ToolUse#sent} with the arguments of {@code use_tool}, or true for the usual ones. */
    private static final String SENT = DeferredTools.USE_TOOL;

    private static final String NAME = "name";
    private static final String ARGUMENTS = "arguments";

    private DeferredCalls() {}

    /** A tool's own name and arguments, within the arguments of {@code use_tool}. */
    private record Own(String name, Json arguments) {
        /** Models sometimes write an object as text, or leave out an empty one. */
        static Optional<Own> in(Json input) {
            if (!(input.value() instanceof Map<?, ?> fields)
                    || !Set.of(NAME, ARGUMENTS).containsAll(fields.keySet())
                    || !(fields.get(NAME) instanceof String name)) {
                return Optional.empty();
            }
            Json arguments = input.get(ARGUMENTS);
            return Optional.of(new Own(
                    name,
                    arguments.isNull()
                            ? Json.EMPTY_OBJECT
                            : arguments.value() instanceof String text ? CallArguments.read(text) : arguments));
        }

        /** The usual arguments of {@code use_tool} for this call. */
        Json wrapped() {
            Map<String, Object> input = new LinkedHashMap<>();
            input.put(NAME, name);
            input.put(ARGUMENTS, arguments);
            return Json.of(input);
        }
    }

    /**
     * Replaces calls of {@code use_tool} with calls of the tools that they name. A call that names no tool, or one of the
     * two built-in ones, stays and gets a fault.
     */
    static Reply unwrapped(Reply reply, AgentSpec agent) {
        if (agent.deferred().isEmpty()) {
            return reply;
        }
        List<Part> content = new ArrayList<>();
        List<Reply.Fault> faults = new ArrayList<>(reply.faults());
        int call = 0;
        for (Part part : reply.content()) {
            if (!(part instanceof Part.ToolUse use)) {
                content.add(part);
                continue;
            }
            Optional<Own> own = Optional.of(use.input())
                    .filter(input -> use.name().equals(DeferredTools.USE_TOOL))
                    .flatMap(Own::in);
            Optional<String> problem = own.flatMap(named -> problem(named.name(), agent));
            boolean isUsable =
                    own.isPresent() && problem.isEmpty() && reply.faultOf(call).isEmpty();
            content.add(isUsable ? unwrapped(use, own.get()) : use);
            if (problem.isPresent() && reply.faultOf(call).isEmpty()) {
                faults.add(new Reply.Fault(call, problem.get()));
            }
            call++;
        }
        return content.equals(reply.content()) && faults.equals(reply.faults())
                ? reply
                : reply.withContent(content).withFaults(faults);
    }

    private static Optional<String> problem(String name, AgentSpec agent) {
        if (name.equals(DeferredTools.USE_TOOL) || name.equals(DeferredTools.FIND_TOOL)) {
            return Optional.of("call " + name + " itself, not with " + DeferredTools.USE_TOOL);
        }
        return agent.tool(name).isPresent()
                ? Optional.empty()
                : Optional.of("there is no tool " + Json.of(name).shortened(200) + ". Look for it with "
                        + DeferredTools.FIND_TOOL + ", and use the name that its result has");
    }

    private static Part.ToolUse unwrapped(Part.ToolUse use, Own own) {
        Map<String, Object> sent = sent(use);
        boolean isUsual = CallArguments.text(own.wrapped()).equals(CallArguments.text(use.input()));
        sent.put(SENT, isUsual ? true : use.input().value());
        return new Part.ToolUse(use.id(), own.name(), own.arguments(), Optional.of(kept(sent)));
    }

    /** What is nested as deep as possible could not be read again one level deeper: it is sent in the usual form. */
    private static Json kept(Map<String, Object> sent) {
        try {
            return Json.of(sent);
        } catch (IllegalArgumentException e) {
            sent.put(SENT, true);
            return Json.of(sent);
        }
    }

    /**
     * Replaces calls of deferred tools with what the model wrote, for an agent that has {@code use_tool}. A model that
     * does not have it would copy calls of a tool that is not there.
     */
    static List<Message> wrapped(List<Message> messages, AgentSpec agent) {
        if (agent.deferred().isEmpty()) {
            return messages;
        }
        return messages.stream()
                .map(message -> message.toolUses().stream().anyMatch(use -> field(use) != null)
                        ? new Message(
                                message.role(),
                                message.content().stream()
                                        .map(part -> part instanceof Part.ToolUse use ? wrapped(use) : part)
                                        .toList())
                        : message)
                .toList();
    }

    /** A file can contain anything: only what calls the same tool with the same arguments is sent as it came. */
    private static Part.ToolUse wrapped(Part.ToolUse use) {
        Object as = field(use);
        if (as == null) {
            return use;
        }
        Own own = new Own(use.name(), use.input());
        Json input = Optional.of(Json.of(as))
                .filter(kept -> Own.in(kept).filter(own::equals).isPresent())
                .orElseGet(own::wrapped);
        Map<String, Object> sent = sent(use);
        sent.remove(SENT);
        return new Part.ToolUse(
                use.id(),
                DeferredTools.USE_TOOL,
                input,
                sent.isEmpty() ? Optional.empty() : Optional.of(Json.of(sent)));
    }

    private static @Nullable Object field(Part.ToolUse use) {
        return use.sent().map(kept -> kept.field(SENT)).orElse(null);
    }

    private static Map<String, Object> sent(Part.ToolUse use) {
        Map<String, Object> sent = new LinkedHashMap<>();
        use.sent().map(Json::value).ifPresent(kept -> {
            if (kept instanceof Map<?, ?> fields) {
                fields.forEach((name, value) -> sent.put((String) name, value));
            }
        });
        return sent;
    }
}
