package dev.waymark.worker.tool.http;

import dev.waymark.agent.Endpoint;
import dev.waymark.connect.DaemonThreads;
import dev.waymark.conversation.value.Json;
import dev.waymark.worker.inbound.FirstBytes;
import dev.waymark.worker.inbound.InlineText;
import dev.waymark.worker.outbound.SentOnce;
import dev.waymark.worker.process.ProcessFence;
import dev.waymark.worker.secret.Secrets;
import dev.waymark.worker.secret.StreamMask;
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
import javax.net.ssl.SSLPeerUnverifiedException;
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
 * Sends the requests of HTTP tools, without retries.
 *
 * <ul>
 * <li>A request is not repeated after a broken connection, or because a response has {@code Retry-After}.
 * <li>Every request uses a new connection, whose address has been checked. So no request is lost in a connection that
 * the server was about to close.
 * <li>Redirects are followed five times at most, and only to the same scheme, host and port. A GET or HEAD follows
 * every redirect. Any other request is repeated after a 307 or 308. After a 303, its result is fetched with a GET. A
 * 301 or 302 is its final response.
 * <li>At most 4 MiB of a response are read, after decompression, and at most {@link InlineText#LIMIT_BYTES} are kept.
 * <li>Proxies that are set in the environment or in system properties are not used.
 * </ul>
 *
 * Thread-safe. Its own threads are daemon threads.
 */
public final class HttpRunner implements AutoCloseable {
    static final int MOST_BYTES = 4 * 1024 * 1024;
    static final int MOST_REDIRECTS = 5;

    private static final int LONGEST_WORDS = 300;

    private final Map<String, String> environment;
    private final Dns dns;
    private final Predicate<InetAddress> reachable;
    private final ExecutorService threads = Executors.newCachedThreadPool(DaemonThreads.named("http tool"));

    /** Created on first use, so that the worker starts faster. */
    private @Nullable OkHttpClient base;

    /** @param environment the worker's environment, in which <code>${NAME}</code> is resolved */
    public HttpRunner(Map<String, String> environment) {
        this(environment, Dns.SYSTEM, PublicAddresses::isPublic);
    }

    /** @param reachable whether tools without {@code allow_private} may connect to an address */
    HttpRunner(Map<String, String> environment, Dns dns, Predicate<InetAddress> reachable) {
        this.environment = Collections.unmodifiableMap(new LinkedHashMap<>(environment));
        this.dns = dns;
        this.reachable = reachable;
    }

    /** A message for the model that explains why no request can be built from these arguments; empty if one can. */
    public Optional<String> misfit(Endpoint endpoint, Json args) {
        RequestAssembly assembly = RequestAssembly.of(endpoint, args, EffectKeys.NONE, secrets(endpoint));
        return assembly instanceof RequestAssembly.Misfit misfit ? Optional.of(misfit.why()) : Optional.empty();
    }

    /**
     * Sends the request at most once, follows redirects, and waits for the result.
     *
     * @param keys sent as the headers {@code Idempotency-Key}, {@code Waymark-Fencing-Token} and {@code traceparent}
     * @throws InterruptedException if the calling thread was interrupted; the request is canceled, but may have been
     *     sent
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
            base = SentOnce.client("http tool")
                    .dns(dns)
                    .proxy(Proxy.NO_PROXY)
                    // HTTP/1.1 without pooling, so that tools with different permissions never share a connection.
                    .protocols(List.of(Protocol.HTTP_1_1))
                    .connectionPool(new ConnectionPool(0, 1, TimeUnit.SECONDS))
                    // Only the waiting thread has a timeout.
                    .connectTimeout(Duration.ZERO)
                    .readTimeout(Duration.ZERO)
                    .writeTimeout(Duration.ZERO)
                    .build();
        }
        return base;
    }

    @Override
    public void close() {
        threads.shutdownNow();
    }

    /** A request and the further requests that redirects cause. */
    private final class Exchange {
        private final OkHttpClient client;
        private final Secrets secrets;
        private final SentOnce.Mark mark = new SentOnce.Mark();
        private final AtomicReference<Optional<Call>> call = new AtomicReference<>(Optional.empty());

        Exchange(OkHttpClient client, Secrets secrets) {
            this.client = client;
            this.secrets = secrets;
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
                throw new IllegalStateException("unexpected failure of an HTTP request", e.getCause());
            }
        }

        /** Gives the request up; returns whether it had not been sent. */
        private boolean giveUp() {
            boolean here = mark.giveUp();
            Objects.requireNonNull(call.get()).ifPresent(Call::cancel);
            return here;
        }

        private HttpResult send(Request first) {
            Request next = first;
            boolean accepted = false;
            for (int redirects = 0; ; redirects++) {
                Call now = client.newCall(
                        next.newBuilder().tag(SentOnce.Mark.class, mark).build());
                call.set(Optional.of(now));
                try (Response response = now.execute()) {
                    Optional<Request> onward = redirects < MOST_REDIRECTS ? redirect(next, response) : Optional.empty();
                    if (onward.isEmpty()) {
                        return accepted ? afterAcceptance(read(response)) : read(response);
                    }
                    accepted |= response.code() == 303 && !next.method().equals("GET");
                    next = onward.get();
                } catch (IOException e) {
                    return mark.isSent() ? broken() : new HttpResult.NotSent(words(e));
                }
            }
        }

        /**
         * Returns the next request; empty if the response is final. A redirect that repeats the request means that the
         * server did not execute it, so the request counts as not sent.
         */
        private Optional<Request> redirect(Request request, Response response) {
            boolean again = switch (response.code()) {
                case 301, 302 ->
                    request.method().equals("GET") || request.method().equals("HEAD");
                case 303, 307, 308 -> true;
                default -> false;
            };
            String location = response.header("Location");
            HttpUrl url = location == null ? null : request.url().resolve(location);
            if (!again || url == null || !SentOnce.isSameOrigin(request.url(), url)) {
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
            mark.returned();
            return Optional.of(next.build());
        }

        private HttpResult read(Response response) throws IOException {
            String location = response.header("Location");
            String note = response.isRedirect() && location != null ? "redirect to " + location + "\n" : "";
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
                body.append("\n[cut: more than " + MOST_BYTES + " bytes]");
            }
            return new HttpResult.Answered(response.code(), body.text());
        }

        /** A failure to fetch the target of a 303 says nothing about the request itself. */
        private static HttpResult afterAcceptance(HttpResult answer) {
            return answer.effect() == Effect.DONE
                    ? answer
                    : new HttpResult.Lost(
                            "the server answered 303, and the request to its target failed: " + answer.words());
        }

        /**
         * The result if the connection broke. A status other than success decides the outcome even if the rest of the
         * response is missing.
         */
        private HttpResult broken() {
            int status = mark.status();
            if (status == 0) {
                return new HttpResult.Lost("the connection was lost before the answer");
            }
            HttpResult.Answered answer = new HttpResult.Answered(status, "");
            return answer.effect() == Effect.DONE
                    ? new HttpResult.Lost(
                            "the server answered " + status + ", but the rest of its answer did not arrive")
                    : answer;
        }

        /**
         * Describes the failure for the model. The library's own messages contain host names and addresses, which the
         * model must not see, so only those about TLS are used.
         */
        private String words(IOException e) {
            if (e instanceof GuardedSockets.Refused) {
                return String.valueOf(e.getMessage());
            }
            if (e instanceof UnknownHostException) {
                return "no such host";
            }
            if (e instanceof SSLPeerUnverifiedException) {
                return "no secure connection: the server's certificate is not valid for this host";
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
