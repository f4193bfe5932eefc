package dev.waymark.worker.model.openai;

import dev.waymark.agent.ModelOption;
import dev.waymark.agent.ModelOptions;
import dev.waymark.agent.Pricing;
import dev.waymark.conversation.message.Reply;
import dev.waymark.model.ModelFailure;
import dev.waymark.model.ModelProvider;
import dev.waymark.model.ModelRequest;
import dev.waymark.model.ReplyListener;
import dev.waymark.model.adapter.ReplySchemas;
import dev.waymark.worker.model.http.EventReader;
import dev.waymark.worker.model.http.EventStreams;
import dev.waymark.worker.model.http.OptionProblems;
import dev.waymark.worker.model.http.ProviderJson;
import dev.waymark.worker.model.http.ProviderService;
import dev.waymark.worker.model.table.ModelTable;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import okhttp3.Request;

/**
 * Code that OpenAI's two APIs share: address and key, options, and requests in two forms. If a model rejects the first
 * form and accepts the second, it gets the second form from then on.
 */
abstract class OpenAiApi implements ModelProvider {
    /** Name of the service in the table of models and in environment variables. */
    static final String SERVICE = "openai";

    private static final String HOST = "api.openai.com";

    /** The options that an agent can set. Only the service knows which model accepts which of them. */
    private static final Set<ModelOption> KNOWN_OPTIONS = Set.copyOf(
            EnumSet.complementOf(EnumSet.of(ModelOption.THINKING, ModelOption.THINKING_BUDGET, ModelOption.CACHE)));

    private static final List<String> EFFORTS = List.of("none", "minimal", "low", "medium", "high", "xhigh", "max");
    private static final List<String> SERVICE_TIERS = List.of("auto", "default", "flex", "scale", "priority", "fast");
    private static final int HIGHEST_TEMPERATURE = 2;

    private final String path;
    private final ProviderService service;
    private final EventStreams streams;
    private final ReplySchemas schemas = new ReplySchemas();
    /** Models that rejected the first form of a request, and accepted the second. */
    private final Set<String> takeSecondForm = ConcurrentHashMap.newKeySet();

    /**
     * @param path the API's path below the service's address
     */
    OpenAiApi(String path, Map<String, String> environment) {
        this.path = path;
        this.service = ProviderService.of(SERVICE, "https://" + HOST + "/v1", environment);
        this.streams = new EventStreams(service);
    }

    /** The body of a request, in its first or second form. */
    abstract Object body(ModelRequest request, boolean secondForm);

    abstract EventReader reader(ProviderService service, String model, ReplyListener listener);

    /** Whether the failure means that the model rejects the first form, and not the content of the request. */
    abstract boolean rejectsFirstForm(ModelFailure failure);

    /**
     * The request without the content of earlier replies that the service rejected, to send it once more. Empty if the
     * failure has another cause.
     */
    Optional<ModelRequest> withoutWhatIsRejected(ModelRequest request, ModelFailure failure) {
        return Optional.empty();
    }

    /** The failure, with what to change if that is known. */
    ModelFailure advised(ModelFailure failure, ModelRequest request) {
        return failure;
    }

    /** Whether to send the second form at once, because the model rejects the first one. */
    boolean needsSecondForm(String model) {
        return takeSecondForm.contains(model);
    }

    /** Whether the requests go to OpenAI itself, not to a compatible server. */
    final boolean isAtHome() {
        return service.isAt(HOST);
    }

    /** The address of the service. */
    @Override
    public final String version(String model) {
        return service.toString();
    }

    @Override
    public final Optional<String> lacks() {
        return service.lacks();
    }

    @Override
    public final Optional<Pricing> pricing(String model) {
        return ModelTable.builtIn().of(SERVICE + ":" + model).pricing();
    }

    @Override
    public Set<ModelOption> knownOptions() {
        return KNOWN_OPTIONS;
    }

    @Override
    public final Map<ModelOption, String> optionProblems(ModelOptions options, int maxTokens) {
        OptionProblems problems = new OptionProblems(options);
        problems.oneOf(ModelOption.EFFORT, EFFORTS);
        problems.oneOf(ModelOption.SERVICE_TIER, SERVICE_TIERS);
        problems.thinkingDisplay();
        problems.temperatureUpTo(HIGHEST_TEMPERATURE);
        return problems.all();
    }

    @Override
    public final Reply reply(ModelRequest request) throws ModelFailure, InterruptedException {
        return reply(request, words -> {});
    }

    @Override
    public final Reply reply(ModelRequest request, ReplyListener listener) throws ModelFailure, InterruptedException {
        return schemas.ask(request, asked -> replyToWhatIsAccepted(asked, listener));
    }

    private Reply replyToWhatIsAccepted(ModelRequest request, ReplyListener listener)
            throws ModelFailure, InterruptedException {
        try {
            return replyToEitherForm(request, listener);
        } catch (ModelFailure failure) {
            Optional<ModelRequest> accepted = withoutWhatIsRejected(request, failure);
            if (accepted.isEmpty()) {
                throw advised(failure, request);
            }
            return replyToEitherForm(accepted.get(), listener);
        }
    }

    private Reply replyToEitherForm(ModelRequest request, ReplyListener listener)
            throws ModelFailure, InterruptedException {
        boolean secondForm = needsSecondForm(request.model());
        try {
            return reply(request, secondForm, listener);
        } catch (ModelFailure failure) {
            if (secondForm || !rejectsFirstForm(failure)) {
                throw failure;
            }
        }
        // The rejected request had no effect, so it can be repeated at once.
        Reply reply = reply(request, true, listener);
        takeSecondForm.add(request.model());
        return reply;
    }

    private Reply reply(ModelRequest request, boolean secondForm, ReplyListener listener)
            throws ModelFailure, InterruptedException {
        return service.send(key -> send(request, secondForm, key, listener));
    }

    private Reply send(ModelRequest request, boolean secondForm, Optional<String> key, ReplyListener listener)
            throws ModelFailure, InterruptedException {
        Request.Builder http = new Request.Builder()
                .url(service.at(path))
                .post(ProviderJson.body(
                        body(isAtHome() ? request : request.withCacheKey(Optional.empty()), secondForm)));
        key.ifPresent(secret -> http.header("Authorization", "Bearer " + secret));
        return streams.ask(http.build(), reader(service, request.model(), listener), listener);
    }

    /** The message of a failure in lower case, for a search for words. */
    static String words(ModelFailure failure) {
        return String.valueOf(failure.getMessage()).toLowerCase(Locale.ROOT);
    }
}
