package dev.waymark.worker.model.anthropic;

import dev.waymark.agent.ModelOption;
import dev.waymark.agent.ModelOptions;
import dev.waymark.agent.Pricing;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.model.ModelFailure;
import dev.waymark.model.ModelProvider;
import dev.waymark.model.ModelRequest;
import dev.waymark.model.ReplyListener;
import dev.waymark.model.adapter.ReplySchemas;
import dev.waymark.worker.model.http.EventStreams;
import dev.waymark.worker.model.http.OptionProblems;
import dev.waymark.worker.model.http.ProviderJson;
import dev.waymark.worker.model.http.ProviderService;
import dev.waymark.worker.model.http.ToolChoice;
import dev.waymark.worker.model.table.ModelTable;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import okhttp3.Request;

/**
 * The models {@code anthropic:MODEL}, through the Messages API. {@code ANTHROPIC_API_KEY} is the key; {@code
 * ANTHROPIC_BASE_URL}, without {@code /v1}, replaces the default address.
 *
 * <pre>{@code
 * ModelProvider anthropic = AnthropicProvider.of(System.getenv());
 * }</pre>
 */
public final class AnthropicProvider implements ModelProvider {
    /** The name in {@code anthropic:MODEL}. */
    public static final String NAME = "anthropic";

    private static final String HOME = "https://api.anthropic.com";
    private static final String VERSION = "2023-06-01";

    private static final List<String> EFFORTS = List.of("low", "medium", "high", "xhigh", "max");
    static final String ADAPTIVE = "adaptive";
    static final String DISABLED = "disabled";
    private static final List<String> THINKING = List.of(ADAPTIVE, "between_tools", DISABLED);
    private static final List<String> SERVICE_TIERS = List.of("auto", "standard_only");
    private static final int HIGHEST_TEMPERATURE = 1;
    private static final int LEAST_THINKING = 1_024;
    private static final String PAUSED = "pause_turn";
    private static final int MOST_PAUSES = 3;

    private final ProviderService service;
    private final EventStreams streams;
    private final ReplySchemas schemas = new ReplySchemas();

    private AnthropicProvider(ProviderService service) {
        this.service = service;
        this.streams = new EventStreams(service);
    }

    /**
     * @param environment the environment variables; only {@code ANTHROPIC_API_KEY} and {@code ANTHROPIC_BASE_URL} are
     *     read
     */
    public static AnthropicProvider of(Map<String, String> environment) {
        return new AnthropicProvider(ProviderService.of(NAME, HOME, environment));
    }

    /** The address of the service. */
    @Override
    public String version(String model) {
        return service.toString();
    }

    @Override
    public Optional<String> lacks() {
        return service.lacks();
    }

    @Override
    public Optional<Pricing> pricing(String model) {
        return ModelTable.builtIn().of(NAME + ":" + model).pricing();
    }

    @Override
    public Set<ModelOption> knownOptions() {
        return EnumSet.allOf(ModelOption.class);
    }

    @Override
    public Map<ModelOption, String> optionProblems(ModelOptions options, int maxTokens) {
        OptionProblems problems = new OptionProblems(options);
        problems.oneOf(ModelOption.EFFORT, EFFORTS);
        problems.oneOf(ModelOption.SERVICE_TIER, SERVICE_TIERS);
        problems.oneOf(ModelOption.THINKING, THINKING);
        problems.thinkingDisplay();
        if (options.thinking().filter(DISABLED::equals).isPresent()) {
            problems.refuse(ModelOption.THINKING_DISPLAY, "not allowed with thinking: disabled");
        }
        problems.oneOf(ModelOption.CACHE, List.of(ModelOptions.CACHE_FIVE_MINUTES, ModelOptions.CACHE_AN_HOUR));
        if (options.thinkingBudget().isPresent()) {
            problems.refuse(ModelOption.TEMPERATURE, "not allowed with thinking_budget");
            problems.refuse(ModelOption.THINKING, "not allowed with thinking_budget");
        } else if (options.thinking().filter(ADAPTIVE::equals).isPresent()) {
            problems.refuse(ModelOption.TEMPERATURE, "not allowed with thinking: adaptive");
        }
        boolean thinks = options.thinkingBudget().isPresent()
                || options.thinking().filter(ADAPTIVE::equals).isPresent();
        if (thinks
                && options.toolChoice()
                        .map(ToolChoice::new)
                        .filter(ToolChoice::demandsCall)
                        .isPresent()) {
            problems.refuse(ModelOption.TOOL_CHOICE, "not allowed with thinking");
        }
        problems.temperatureUpTo(HIGHEST_TEMPERATURE);
        options.thinkingBudget().ifPresent(tokens -> {
            if (tokens < LEAST_THINKING || tokens >= maxTokens) {
                problems.refuse(
                        ModelOption.THINKING_BUDGET,
                        "expected at least " + LEAST_THINKING + " and less than max_tokens, which is " + maxTokens
                                + ", found " + tokens);
            }
        });
        return problems.all();
    }

    @Override
    public Reply reply(ModelRequest request) throws ModelFailure, InterruptedException {
        return reply(request, words -> {});
    }

    @Override
    public Reply reply(ModelRequest request, ReplyListener listener) throws ModelFailure, InterruptedException {
        return schemas.ask(request, asked -> service.send(key -> whole(asked, key, listener)));
    }

    /** The complete reply, including what the service adds when it is asked to continue after a pause. */
    private Reply whole(ModelRequest request, Optional<String> key, ReplyListener listener)
            throws ModelFailure, InterruptedException {
        Reply reply = send(request, key, listener);
        for (int i = 0; i < MOST_PAUSES && reply.stop().equals(PAUSED); i++) {
            List<Message> messages = new ArrayList<>(request.messages());
            messages.add(reply.message());
            Reply more = send(request.withMessages(messages), key, listener);
            List<Part> parts = new ArrayList<>(reply.content());
            parts.addAll(more.content());
            boolean dropped = reply.withoutReasoning() || more.withoutReasoning();
            Reply both = new Reply(parts, reply.usage().plus(more.usage()), more.stop());
            reply = dropped ? both.refusingReasoning() : both;
        }
        return reply;
    }

    private Reply send(ModelRequest request, Optional<String> key, ReplyListener listener)
            throws ModelFailure, InterruptedException {
        Request.Builder http = new Request.Builder()
                .url(service.at("v1/messages"))
                .header("anthropic-version", VERSION)
                .post(ProviderJson.body(AnthropicMapper.request(request)));
        key.ifPresent(secret -> http.header("x-api-key", secret));
        return streams.ask(http.build(), new AnthropicReader(service, request.model(), listener), listener);
    }
}
