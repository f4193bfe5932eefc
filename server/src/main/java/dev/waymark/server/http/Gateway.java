package dev.waymark.server.http;

import com.fasterxml.jackson.core.JsonProcessingException;
import dev.waymark.conversation.value.ProblemType;
import dev.waymark.server.identity.Authenticator;
import dev.waymark.server.identity.Caller;
import dev.waymark.server.identity.CallerRole;
import java.io.IOException;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Function;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;

/** Checks each request before its route's handler runs, and sends the handler's answer. */
final class Gateway implements Consumer<Transfer> {
    private static final String BEARER = "Bearer ";
    private static final Set<String> TOKEN_NAMES =
            Set.of("access_token", "token", "id_token", "authorization", "api_key", "apikey", "bearer");
    /** The maximum number of requests with invalid tokens from one address. */
    private static final double BAD_TOKENS_PER_SECOND = 10;

    private static final double BURST = 3;

    /** A quarter of the server's threads. */
    private static final int RUNNING_PER_CALLER = HttpEndpoint.THREADS / 4;

    private static final String WELL_KNOWN_FAILURE = "internal error; see the server's log";

    private final HttpSettings settings;
    private final Router router;
    private final Map<String, HttpReply> pages;
    private final Map<String, HttpReply> compressedPages;
    private final RequestChecks checks;
    private final Optional<Authenticator> authenticator;
    private final Function<RuntimeException, HttpProblem> failures;
    private final AllowedOrigins origins;
    private final RateLimit rates;
    private final RateLimit badTokens = new RateLimit(BAD_TOKENS_PER_SECOND, BURST * BAD_TOKENS_PER_SECOND);
    private final CallerTurns turns;
    private final StreamSlots streams;
    private final AtomicInteger inFlight = new AtomicInteger();
    private volatile boolean draining;

    Gateway(
            HttpSettings settings,
            Router router,
            Map<String, HttpReply> pages,
            RequestChecks checks,
            Optional<Authenticator> authenticator,
            Function<RuntimeException, HttpProblem> failures) {
        this.settings = settings;
        this.router = router;
        this.pages = Map.copyOf(pages);
        this.compressedPages = compressed(pages);
        this.checks = checks;
        this.authenticator = authenticator;
        this.failures = failures;
        this.origins = new AllowedOrigins(settings.corsOrigins(), settings.loopbackOnly());
        double burst = BURST * settings.requestsPerSecond();
        this.rates = new RateLimit(settings.requestsPerSecond(), burst);
        this.turns = new CallerTurns(RUNNING_PER_CALLER, (int) Math.ceil(burst));
        this.streams = new StreamSlots(settings.streamsOfOne(), settings.streams());
    }

    @Override
    public void accept(Transfer transfer) {
        Exchange exchange = new Exchange(transfer);
        exchange.guarded(exchange::begin);
    }

    /** Rejects new requests, and ends the streams. */
    void drain() {
        draining = true;
        streams.drain();
    }

    /** Whether requests or streams are still open. */
    boolean isBusy() {
        return inFlight.get() > 0 || streams.count() > 0;
    }

    /** Answers one request. */
    private final class Exchange {
        private final Transfer transfer;
        private final Request request;
        private final Response response;

        Exchange(Transfer transfer) {
            this.transfer = transfer;
            this.request = transfer.request();
            this.response = transfer.response();
            inFlight.incrementAndGet();
            HttpFields.Mutable headers = response.getHeaders();
            headers.put("Cache-Control", "no-store");
            headers.put("X-Content-Type-Options", "nosniff");
            headers.put("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'");
        }

        /** Runs a step. If it fails, answers with the failure. */
        void guarded(Runnable step) {
            try {
                step.run();
            } catch (HttpProblem problem) {
                refuse(problem);
            } catch (RuntimeException e) {
                refuse(problem(e));
            }
        }

        private void refuse(HttpProblem problem) {
            inFlight.decrementAndGet();
            transfer.refuse(problem.reply());
        }

        private HttpProblem problem(RuntimeException e) {
            HttpProblem problem = failures.apply(e);
            return problem.status() == 500 ? HttpProblem.of(500, problem.code(), WELL_KNOWN_FAILURE) : problem;
        }

        private void begin() {
            HttpFields headers = request.getHeaders();
            origins.check(headers, own());
            origins.allow(headers, response.getHeaders());
            if (draining) {
                throw HttpProblem.draining();
            }
            Map<String, String> query =
                    Router.query(Optional.ofNullable(request.getHttpURI().getQuery()));
            query.keySet().stream()
                    .filter(name -> TOKEN_NAMES.contains(name.toLowerCase(Locale.ROOT)))
                    .findFirst()
                    .ifPresent(name -> {
                        throw HttpProblem.of(400, ProblemType.TOKEN_IN_URL, "a token must not be in the URL: " + name)
                                .withRemedy("Send `Authorization: Bearer TOKEN`. Replace this token: URLs are logged");
                    });
            String path = request.getHttpURI().getPath();
            if (request.getMethod().equals("OPTIONS")) {
                AllowedOrigins.preflight(response.getHeaders());
                send(HttpReply.empty(204));
                return;
            }
            boolean isCompressed = request.getHeaders().contains(HttpHeader.ACCEPT_ENCODING, "gzip");
            HttpReply page = (isCompressed ? compressedPages : pages).get(path);
            if (page != null && request.getMethod().equals("GET")) {
                send(isKnown(page) ? new HttpReply(304, "", new byte[0], page.headers()) : page);
                return;
            }
            Optional<Caller> caller = caller();
            Router.Match match;
            try {
                match = router.find(request.getMethod(), path);
            } catch (HttpProblem missing) {
                throw caller.isPresent() ? missing : unknown();
            }
            Route route = match.route();
            admit(route, caller);
            checkQuery(route, query);
            Function<String, Optional<String>> header = name -> Optional.ofNullable(headers.get(name));
            Caller known = caller.orElse(new Caller(Optional.empty(), Set.of(), Set.of(), Optional.empty()));
            Function<Optional<JsonBody>, ApiRequest> complete =
                    body -> new ApiRequest(known, match.path(), query, header, body);
            if (route.role().isEmpty()) {
                answer(route, complete.apply(Optional.empty()));
            } else if (route.mostBytes() == 0) {
                inTurn(known, () -> answer(route, complete.apply(Optional.empty())));
            } else {
                readBody(route, known, body -> answer(route, complete.apply(body)));
            }
        }

        private void inTurn(Caller caller, Runnable step) {
            turns.run(caller.name(), request.getComponents().getExecutor(), () -> guarded(step));
        }

        /** Whether the browser already has the current content of a page. */
        private boolean isKnown(HttpReply page) {
            String tag = page.headers().get("ETag");
            return tag != null && tag.equals(request.getHeaders().get(HttpHeader.IF_NONE_MATCH));
        }

        private String own() {
            String host = Optional.ofNullable(request.getHeaders().get(HttpHeader.HOST))
                    .orElse("");
            return (request.isSecure() ? "https://" : "http://") + host;
        }

        /**
         * The caller that a valid token identifies, or empty. {@link Caller#UNCHECKED} if authentication is disabled.
         */
        private Optional<Caller> caller() {
            if (authenticator.isEmpty()) {
                return Optional.of(Caller.UNCHECKED);
            }
            if (request.getHeaders().getValuesList(HttpHeader.AUTHORIZATION).size() > 1) {
                throw HttpProblem.badInput("more than one Authorization header");
            }
            String given = request.getHeaders().get(HttpHeader.AUTHORIZATION);
            if (given == null || !given.regionMatches(true, 0, BEARER, 0, BEARER.length())) {
                return Optional.empty();
            }
            String from = Request.getRemoteAddr(request);
            String token = given.substring(BEARER.length()).strip();
            Optional<Caller> caller = authenticator.get().caller(token);
            if (caller.isEmpty() && !badTokens.take(from)) {
                throw HttpProblem.tooManyRequests("too many requests with invalid tokens");
            }
            return caller;
        }

        private void admit(Route route, Optional<Caller> caller) {
            if (route.role().isEmpty()) {
                return;
            }
            Caller known = caller.orElseThrow(Gateway::unknown);
            if (!rates.take(known.name())) {
                throw HttpProblem.tooManyRequests("more than " + settings.requestsPerSecond() + " requests per second");
            }
            CallerRole role = route.role().get();
            if (!known.may(role)) {
                throw HttpProblem.roleRequired(role, "");
            }
        }

        private void checkQuery(Route route, Map<String, String> query) {
            Set<String> known = checks.queryParameters(route.name());
            query.keySet().stream()
                    .filter(name -> !known.contains(name))
                    .findFirst()
                    .ifPresent(name -> {
                        throw HttpProblem.badInput("unknown query parameter: " + name);
                    });
        }

        private void readBody(Route route, Caller caller, Consumer<Optional<JsonBody>> next) {
            transfer.receive(route.mostBytes())
                    .whenComplete((bytes, failure) -> guarded(() -> {
                        if (failure != null) {
                            throw HttpProblem.ofBody(failure);
                        }
                        inTurn(caller, () -> next.accept(body(route, bytes)));
                    }));
        }

        private Optional<JsonBody> body(Route route, byte[] bytes) {
            if (bytes.length == 0 && !checks.needsBody(route.name())) {
                return Optional.empty();
            }
            String type = Optional.ofNullable(request.getHeaders().get(HttpHeader.CONTENT_TYPE))
                    .orElse("");
            if (!type.replaceFirst(";.*", "").strip().equalsIgnoreCase("application/json")) {
                // HTML forms cannot send this content type, so this also blocks forms of other sites.
                throw HttpProblem.of(415, ProblemType.UNSUPPORTED_MEDIA_TYPE, "Content-Type must be application/json");
            }
            try {
                JsonBody body = JsonBody.of(bytes);
                checks.bodyProblem(route.name(), body.json()).ifPresent(words -> {
                    throw HttpProblem.badInput("the body does not match its schema: " + words);
                });
                return Optional.of(body);
            } catch (JsonProcessingException e) {
                throw HttpProblem.badInput("the body is not JSON: " + e.getOriginalMessage());
            } catch (IOException e) {
                throw HttpProblem.badInput("the body is not JSON");
            }
        }

        private void answer(Route route, ApiRequest complete) {
            HttpAnswer answer = route.handler().apply(complete);
            if (answer instanceof HttpReply reply) {
                send(reply);
            } else if (answer instanceof HttpStream stream) {
                send(stream, complete.caller());
            }
        }

        private void send(HttpReply reply) {
            inFlight.decrementAndGet();
            transfer.send(reply);
        }

        private void send(HttpStream stream, Caller caller) {
            try {
                streams.take(caller.name());
            } catch (HttpProblem refused) {
                stream.source().close();
                throw refused;
            }
            HttpFields.Mutable headers = response.getHeaders();
            stream.headers().forEach(headers::put);
            response.setStatus(200);
            headers.put(HttpHeader.CONTENT_TYPE, "text/event-stream");
            headers.put("X-Accel-Buffering", "no");
            inFlight.decrementAndGet();
            transfer.release();
            StreamWriter writer = new StreamWriter(
                    response,
                    transfer.callback(),
                    stream.source(),
                    settings.heartbeat(),
                    this::isStillAllowed,
                    ended -> {
                        streams.give(caller.name());
                        streams.over(ended);
                    });
            streams.begin(writer);
            writer.begin();
        }

        /** A token can expire or be revoked while a stream is open. */
        private boolean isStillAllowed() {
            try {
                return authenticator.isEmpty()
                        || caller().filter(known -> known.expires()
                                        .map(Instant.now()::isBefore)
                                        .orElse(true))
                                .isPresent();
            } catch (HttpProblem refused) {
                return false;
            }
        }
    }

    private static Map<String, HttpReply> compressed(Map<String, HttpReply> pages) {
        Map<String, HttpReply> compressed = new LinkedHashMap<>();
        pages.forEach((path, page) -> compressed.put(path, page.gzipped()));
        return Map.copyOf(compressed);
    }

    private static HttpProblem unknown() {
        return HttpProblem.of(401, ProblemType.UNAUTHENTICATED, "a valid bearer token is required")
                .withHeader("WWW-Authenticate", "Bearer");
    }
}
