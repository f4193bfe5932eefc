package dev.waymark.worker.tool.http;

import dev.waymark.agent.Endpoint;
import dev.waymark.conversation.value.Json;
import dev.waymark.worker.inbound.FirstBytes;
import dev.waymark.worker.process.ProcessFence;
import dev.waymark.worker.secret.Secrets;
import dev.waymark.worker.secret.StreamMask;
import dev.waymark.worker.text.InlineText;
import dev.waymark.worker.tool.kind.Effect;
import dev.waymark.worker.tool.kind.EffectKeys;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.Reader;
import java.net.InetAddress;
import java.net.Proxy;
import java.net.UnknownHostException;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Predicate;
import javax.net.ssl.SSLException;
import okhttp3.Call;
import okhttp3.ConnectionPool;
import okhttp3.Dns;
import okhttp3.HttpUrl;
import okhttp3.OkHttpClient;
import okhttp3.Protocol;
import okhttp3.Request;
import okhttp3.Response;
import org.jspecify.annotations.Nullable;

/**
 * Sends the requests of HTTP tools, each once.
 *
 * <ul>
 *   <li>Nothing is sent again: not when a connection breaks, not because an answer asks for it.
 *   <li>A connection is made for every request, to an address that was looked at just then; none is kept. So no request
 *       gets lost in a connection that the other side was about to close.
 *   <li>Redirects are followed five times at most, and to the same scheme, host and port only. A GET goes wherever one
 *       leads; anything else is sent again only after a 307 or 308, and after a 303 its answer is fetched. A 301 or 302
 *       of anything but a GET or HEAD is an answer.
 *   <li>Of an answer no more than 4 MiB is read, decompressed, and what is kept of it fits into a history.
 *   <li>Proxies that the environment or system properties name are not used.
 * </ul>
 *
 * Safe for several threads. Its own threads keep no process alive.
 */
public final class HttpRunner implements AutoCloseable {
    static final int MOST_BYTES = 4 * 1024 * 1024;
    static final int MOST_REDIRECTS = 5;

    private static final int LONGEST_WORDS = 300;

    private final Map<String, String> environment;
    private final Dns dns;
    private final Predicate<InetAddress> reachable;
    private final ExecutorService threads = Executors.newCachedThreadPool(task -> {
        Thread thread = new Thread(task, "http tool");
        thread.setDaemon(true);
        return thread;
    });

    /** Made when it is needed: a worker starts faster without. */
    private @Nullable OkHttpClient base;

    /** @param environment the worker's own, in which <code>${NAME}</code> is resolved */
    public HttpRunner(Map<String, String> environment) {
        this(environment, Dns.SYSTEM, AddressRules::isPublic);
    }

    /** @param reachable which addresses may be connected to without {@code allow_private} */
    HttpRunner(Map<String, String> environment, Dns dns, Predicate<InetAddress> reachable) {
        this.environment = Collections.unmodifiableMap(new LinkedHashMap<>(environment));
        this.dns = dns;
        this.reachable = reachable;
    }

    /** Why no request can be made of these arguments, in words for a model; empty when one can. */
    public Optional<String> misfit(Endpoint endpoint, Json args) {
        RequestAssembly assembly = RequestAssembly.of(endpoint, args, EffectKeys.NONE, secrets(endpoint));
        return assembly instanceof RequestAssembly.Misfit misfit ? Optional.of(misfit.why()) : Optional.empty();
    }

    /**
     * Sends one request, or none, and waits for its end.
     *
     * @param keys go as the headers {@code Idempotency-Key} and {@code Waymark-Fencing-Token}
     * @throws InterruptedException when the calling thread was interrupted: the request is given up, and may have left
     */
    public HttpResult run(Endpoint endpoint, Json args, EffectKeys keys, ProcessFence fence)
            throws InterruptedException {
        Secrets secrets = secrets(endpoint);
        RequestAssembly assembly = RequestAssembly.of(endpoint, args, keys, secrets);
        if (assembly instanceof RequestAssembly.Ready ready) {
            return new Exchange(client(endpoint), secrets).await(ready.request(), fence);
        }
        return new HttpResult.NotSent(
                assembly instanceof RequestAssembly.Misfit misfit
                        ? misfit.why()
                        : ((RequestAssembly.Unusable) assembly).why());
    }

    private Secrets secrets(Endpoint endpoint) {
        List<String> texts = new ArrayList<>(endpoint.headers().values());
        texts.add(endpoint.url());
        return Secrets.of(texts, environment);
    }

    private OkHttpClient client(Endpoint endpoint) {
        Predicate<InetAddress> allowed = endpoint.allowPrivate() ? address -> true : reachable;
        return base().newBuilder().socketFactory(new GuardedSockets(allowed)).build();
    }

    private synchronized OkHttpClient base() {
        if (base == null) {
            base = new OkHttpClient.Builder()
                    .dns(dns)
                    .proxy(Proxy.NO_PROXY)
                    // One request a connection: with more, one tool's could be another's, which may go further.
                    .protocols(List.of(Protocol.HTTP_1_1))
                    .connectionPool(new ConnectionPool(0, 1, TimeUnit.SECONDS))
                    .retryOnConnectionFailure(false)
                    .followRedirects(false)
                    .followSslRedirects(false)
                    // Whoever waits has the only clock.
                    .connectTimeout(Duration.ZERO)
                    .readTimeout(Duration.ZERO)
                    .writeTimeout(Duration.ZERO)
                    .addNetworkInterceptor(chain -> {
                        Exchange exchange = chain.request().tag(Exchange.class);
                        if (exchange == null || !exchange.leave()) {
                            throw new IOException("given up");
                        }
                        Response response = chain.proceed(chain.request());
                        exchange.status = response.code();
                        // OkHttp takes it for an order to send again.
                        return response.newBuilder().removeHeader("Retry-After").build();
                    })
                    .build();
        }
        return base;
    }

    @Override
    public void close() {
        threads.shutdownNow();
    }

    /** One request and those that its redirects lead to. */
    private final class Exchange {
        private final OkHttpClient client;
        private final Secrets secrets;
        private final AtomicReference<Stage> stage = new AtomicReference<>(Stage.HERE);
        /** Of the answer to what left last; 0 before it comes. */
        private volatile int status;

        private final AtomicReference<Optional<Call>> call = new AtomicReference<>(Optional.empty());

        /** Where the request is. What is given up while it is here will never leave. */
        private enum Stage {
            HERE,
            GONE,
            GIVEN_UP
        }

        Exchange(OkHttpClient client, Secrets secrets) {
            this.client = client;
            this.secrets = secrets;
        }

        /** Whether the request may leave; it has, then. */
        boolean leave() {
            status = 0;
            return stage.updateAndGet(now -> now == Stage.GIVEN_UP ? now : Stage.GONE) == Stage.GONE;
        }

        HttpResult await(Request request, ProcessFence fence) throws InterruptedException {
            Future<HttpResult> result = threads.submit(() -> send(request));
            try {
                return result.get(fence.left().toMillis(), TimeUnit.MILLISECONDS);
            } catch (TimeoutException e) {
                String why = "timed out after " + fence.timeout().toSeconds() + "s";
                return giveUp() ? new HttpResult.NotSent(why + ", before it was sent") : new HttpResult.Lost(why);
            } catch (InterruptedException e) {
                giveUp();
                throw e;
            } catch (ExecutionException e) {
                throw new IllegalStateException("a request failed in an unknown way", e.getCause());
            }
        }

        /** Whether it was still here. */
        private boolean giveUp() {
            boolean here = stage.getAndSet(Stage.GIVEN_UP) == Stage.HERE;
            Objects.requireNonNull(call.get()).ifPresent(Call::cancel);
            return here;
        }

        private HttpResult send(Request first) {
            Request next = first;
            boolean accepted = false;
            for (int redirects = 0; ; redirects++) {
                Call now = client.newCall(
                        next.newBuilder().tag(Exchange.class, this).build());
                call.set(Optional.of(now));
                try (Response response = now.execute()) {
                    Optional<Request> onward = redirects < MOST_REDIRECTS ? redirect(next, response) : Optional.empty();
                    if (onward.isEmpty()) {
                        return accepted ? afterAcceptance(read(response)) : read(response);
                    }
                    accepted |= response.code() == 303 && !next.method().equals("GET");
                    next = onward.get();
                } catch (IOException e) {
                    return stage.get() == Stage.GONE ? broken() : new HttpResult.NotSent(words(e));
                }
            }
        }

        /** What to send next. What is to be sent again was not carried out, so it is here once more. */
        private Optional<Request> redirect(Request request, Response response) {
            boolean again = switch (response.code()) {
                case 301, 302 ->
                    request.method().equals("GET") || request.method().equals("HEAD");
                case 303, 307, 308 -> true;
                default -> false;
            };
            String location = response.header("Location");
            HttpUrl url = location == null ? null : request.url().resolve(location);
            if (!again || url == null || !isSameOrigin(request.url(), url)) {
                return Optional.empty();
            }
            Request.Builder next = request.newBuilder().url(url);
            if (response.code() == 303 && !request.method().equals("HEAD")) {
                return Optional.of(next.get()
                        .removeHeader("Content-Type")
                        .removeHeader(RequestAssembly.IDEMPOTENCY_KEY)
                        .removeHeader(RequestAssembly.FENCING_TOKEN)
                        .build());
            }
            stage.compareAndSet(Stage.GONE, Stage.HERE);
            return Optional.of(next.build());
        }

        private static boolean isSameOrigin(HttpUrl one, HttpUrl other) {
            return one.scheme().equals(other.scheme()) && one.host().equals(other.host()) && one.port() == other.port();
        }

        private HttpResult read(Response response) throws IOException {
            String location = response.header("Location");
            String note = response.isRedirect() && location != null ? "it leads to " + location + "\n" : "";
            Charset charset = Optional.ofNullable(response.body().contentType())
                    .map(type -> type.charset(StandardCharsets.UTF_8))
                    .orElse(StandardCharsets.UTF_8);
            InlineText body = new InlineText();
            StreamMask mask = secrets.mask();
            body.append(mask.next(note));
            FirstBytes first = new FirstBytes(response.body().byteStream(), MOST_BYTES);
            Reader text = new InputStreamReader(first, charset);
            char[] buffer = new char[8192];
            for (int count = text.read(buffer); count >= 0; count = text.read(buffer)) {
                body.append(mask.next(new String(buffer, 0, count)));
            }
            body.append(mask.end());
            if (first.isCut()) {
                body.append("\n[of more than " + MOST_BYTES + " bytes]");
            }
            return new HttpResult.Answered(response.code(), body.text());
        }

        /** Where a 303 leads can fail, and says nothing about the request that was answered with it. */
        private static HttpResult afterAcceptance(HttpResult answer) {
            return answer.effect() == Effect.DONE
                    ? answer
                    : new HttpResult.Lost("the server answered 303, and where that leads " + answer.words());
        }

        /** A status other than a success says all that there is to know, whatever became of the rest. */
        private HttpResult broken() {
            if (status == 0) {
                return new HttpResult.Lost("the connection broke off before the answer");
            }
            HttpResult.Answered answer = new HttpResult.Answered(status, "");
            return answer.effect() == Effect.DONE
                    ? new HttpResult.Lost("the server answered " + status + ", and the rest of its answer did not come")
                    : answer;
        }

        /** Not the library's, which name hosts and addresses that a model has no business with. */
        private String words(IOException e) {
            if (e instanceof GuardedSockets.Refused) {
                return String.valueOf(e.getMessage());
            }
            if (e instanceof UnknownHostException) {
                return "no such host";
            }
            if (e instanceof SSLException) {
                String words = secrets.mask(String.valueOf(e.getMessage()));
                return "no secure connection: "
                        + (words.length() > LONGEST_WORDS ? words.substring(0, LONGEST_WORDS) + "…" : words);
            }
            return "no connection";
        }
    }
}
