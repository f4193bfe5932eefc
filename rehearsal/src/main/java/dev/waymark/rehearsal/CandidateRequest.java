package dev.waymark.rehearsal;

import dev.waymark.agent.AgentSpec;
import dev.waymark.agent.ModelOptions;
import dev.waymark.agent.Pricing;
import dev.waymark.agent.ToolSpec;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Sha256;
import dev.waymark.conversation.value.Usage;
import dev.waymark.conversation.value.Usd;
import dev.waymark.history.RecordedReply;
import dev.waymark.model.ModelRequest;
import dev.waymark.worker.model.ModelPrompt;
import dev.waymark.worker.provider.ModelProviders;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The request to an agent's model at a recorded reply.
 *
 * @param text everything that the answer may depend on, in canonical form
 */
record CandidateRequest(ModelProviders.Bound bound, ModelRequest sent, String text) {
    /** Providers add markup to each message, and instructions for the use of tools. */
    private static final long MOST_TOKENS_PER_MESSAGE = 64;

    private static final long MOST_TOKENS_ADDED = 4_000;

    /** More than any provider counts for an image of any size. */
    private static final long MOST_TOKENS_PER_IMAGE = 20_000;

    /** @param recorded the agent of the thread: the model's reasoning may be bound to its prompt */
    static CandidateRequest of(AgentSpec agent, ModelProviders.Bound bound, RecordedReply past, AgentSpec recorded) {
        if (past.summary()) {
            return of(agent, bound, ModelPrompt.summary(past.state(), agent));
        }
        ModelRequest request = ModelPrompt.request(past.state(), agent);
        return of(
                agent,
                bound,
                isOtherPrompt(agent, recorded)
                        ? request.boundFrom(request.messages().size())
                        : request.unreadableBefore(past.state().unreadableBefore("")));
    }

    /** Whether reasoning of the recorded model can't be sent, because the prompt before it has changed. */
    static boolean lacksReasoning(AgentSpec agent, RecordedReply past, AgentSpec recorded) {
        return !past.summary()
                && isOtherPrompt(agent, recorded)
                && ModelPrompt.request(past.state(), recorded).hasReasoning();
    }

    private static boolean isOtherPrompt(AgentSpec agent, AgentSpec recorded) {
        return !agent.model().equals(recorded.model())
                || !agent.instructions().equals(recorded.instructions())
                || !tools(agent.tools()).equals(tools(recorded.tools()));
    }

    private static List<List<Object>> tools(List<ToolSpec> tools) {
        return tools.stream()
                .map(tool -> List.<Object>of(tool.name(), tool.description(), tool.input()))
                .toList();
    }

    static CandidateRequest of(AgentSpec agent, ModelProviders.Bound bound, ModelRequest request) {
        ModelRequest sent = request.to(bound.model(), agent.options().orElse(ModelOptions.NONE));
        Map<String, Object> all = new LinkedHashMap<>();
        all.put("model", bound.name());
        all.put("version", bound.provider().version(bound.model()));
        all.put("instructions", sent.instructions().orElse(null));
        all.put("messages", sent.messages().stream().map(Message::tree).toList());
        all.put("tools", tools(sent.tools()));
        if (sent.boundFrom() > 0) {
            all.put("boundFrom", sent.boundFrom());
        }
        if (sent.unreadableBefore() > 0) {
            all.put("unreadableBefore", sent.unreadableBefore());
        }
        all.put("maxTokens", sent.maxTokens());
        all.put("options", options(sent.options()));
        return new CandidateRequest(bound, sent, Json.canonical(all));
    }

    private static Map<String, Object> options(ModelOptions options) {
        Map<String, Object> named = new LinkedHashMap<>();
        options.values().forEach((option, value) -> named.put(option.field(), value));
        return named;
    }

    /** A key for the answer to this request. */
    String digest(int vote) {
        return Sha256.hex(vote + "\n" + text);
    }

    /**
     * The most that the request can cost. A token has at least one byte, and the canonical form has at least as many
     * characters as the request has bytes of text.
     */
    Usd worstCase(Pricing pricing) {
        long images = sent.messages().stream()
                .flatMap(message -> message.content().stream())
                .filter(part -> part instanceof Part.Image || part instanceof Part.ImageData)
                .count();
        long input = text.length()
                + MOST_TOKENS_PER_MESSAGE * sent.messages().size()
                + MOST_TOKENS_PER_IMAGE * images
                + MOST_TOKENS_ADDED;
        Usd plain = pricing.of(new Usage(input, sent.maxTokens()));
        Usd cached = pricing.of(new Usage(input, sent.maxTokens(), 0, input));
        return plain.compareTo(cached) > 0 ? plain : cached;
    }
}
