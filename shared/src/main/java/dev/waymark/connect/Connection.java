package dev.waymark.connect;

import com.uber.m3.tally.Scope;
import dev.waymark.codec.EncryptionCodec;
import dev.waymark.codec.EncryptionKeys;
import dev.waymark.codec.ThreadKeys;
import dev.waymark.contract.EncryptedDataConverter;
import dev.waymark.contract.PayloadJson;
import dev.waymark.contract.WireNames;
import io.grpc.ClientInterceptor;
import io.grpc.ManagedChannelBuilder;
import io.grpc.Metadata;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.MetadataUtils;
import io.temporal.api.workflowservice.v1.DescribeNamespaceRequest;
import io.temporal.api.workflowservice.v1.GetSystemInfoRequest;
import io.temporal.client.WorkflowClient;
import io.temporal.client.WorkflowClientOptions;
import io.temporal.common.converter.DataConverter;
import io.temporal.envconfig.ClientConfigProfile;
import io.temporal.envconfig.LoadClientConfigProfileOptions;
import io.temporal.payload.codec.PayloadCodec;
import io.temporal.serviceclient.WorkflowServiceStubs;
import io.temporal.serviceclient.WorkflowServiceStubsOptions;
import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.nio.file.NoSuchFileException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import javax.net.ssl.SSLException;

/** A connection to a Temporal server that has answered. */
public final class Connection implements AutoCloseable {
    /** The largest port that an address can have. */
    public static final int LARGEST_PORT = 65_535;

    private static final int CONNECT_SECONDS = 10;
    private static final RequestRetry WHILE_STARTING = RequestRetry.every(
            Duration.ofMillis(100), Duration.ofMillis(1_500), answer -> answer == ServerAnswer.UNREACHABLE);
    private static final Metadata.Key<byte[]> DEFAULT_SAVER =
            Metadata.Key.of(WireNames.DEFAULT_SAVER_HEADER, Metadata.BINARY_BYTE_MARSHALLER);
    /** The only kind of saver that is accepted as the default of a server: a directory. */
    private static final String FILE_SAVER = "file:";

    private static final Duration ASK_IF_INDEXED_EVERY = Duration.ofMinutes(1);
    private static final Duration ASK_AGAIN_AFTER = Duration.ofSeconds(5);

    private static final String TLS_SETTINGS =
            "Check TEMPORAL_TLS (whether the server uses TLS), TEMPORAL_TLS_SERVER_NAME (the name in its certificate),"
                    + " TEMPORAL_TLS_SERVER_CA_CERT_PATH, and TEMPORAL_TLS_CLIENT_CERT_PATH and …_KEY_PATH";

    private static volatile Consumer<ManagedChannelBuilder<?>> channelInitializer = channel -> {};

    private final WorkflowServiceStubs stubs;
    private final WorkflowClient client;
    private final FairShares fairShares;
    private final String address;
    private final ServerInfo server;
    /** Whether closing the connection closes the stubs. */
    private final boolean ownsStubs;

    private final SearchIndex searchIndex;
    private volatile Indexed indexed = Indexed.until(false, Duration.ZERO);

    /** Whether threads can have search attributes, and until when this answer is used. */
    private record Indexed(boolean yes, long untilNanos) {
        static Indexed until(boolean yes, Duration later) {
            return new Indexed(yes, System.nanoTime() + later.toNanos());
        }

        boolean isOutdated() {
            return System.nanoTime() - untilNanos >= 0;
        }
    }

    /**
     * Waymark's settings, in addition to those of Temporal.
     *
     * @param keys the keys of payloads, if they are encrypted
     */
    private record Settings(Optional<EncryptionKeys> keys, Optional<ThreadKeys> threadKeys, FairShares fairShares) {
        static Settings of(Map<String, String> variables) {
            Optional<EncryptionKeys> keys = EncryptionKeys.of(variables);
            try {
                return new Settings(keys, ThreadKeys.of(variables, keys), FairShares.of(variables));
            } catch (FairShares.Unreadable e) {
                throw new ConnectionException("the settings can't be read: " + e.getMessage(), e);
            }
        }

        DataConverter converter(String namespace) {
            return keys.<DataConverter>map(
                            known -> new EncryptedDataConverter(new EncryptionCodec(known, threadKeys, namespace)))
                    .orElseGet(PayloadJson::dataConverter);
        }
    }

    /** What the server reports about itself. */
    private record ServerInfo(ServerVersion version, Optional<String> defaultSaver) {}

    private Connection(
            WorkflowServiceStubs stubs,
            WorkflowClientOptions options,
            Settings own,
            ServerInfo server,
            boolean ownsStubs) {
        this.stubs = stubs;
        this.client = client(stubs, options, own);
        this.fairShares = own.fairShares();
        this.address = stubs.getOptions().getTarget();
        this.server = server;
        this.searchIndex = new SearchIndex(stubs, client.getOptions().getNamespace());
        this.ownsStubs = ownsStubs;
    }

    /** Configures the channels of all connections that this process opens later. */
    public static void initializeChannels(Consumer<ManagedChannelBuilder<?>> initializer) {
        channelInitializer = initializer;
    }

    /**
     * Connects with the environment variables and configuration profiles of Temporal, such as {@code TEMPORAL_ADDRESS}
     * and {@code TEMPORAL_NAMESPACE}.
     */
    public static Connection fromEnvironment() {
        return of(ProcessEnvironment.get(), Optional.empty());
    }

    /**
     * Connects with these variables in place of the environment's. The SDK reports its metrics to this scope, if there
     * is one.
     */
    public static Connection of(Map<String, String> variables, Optional<Scope> metrics) {
        return open(settings(variables), variables, metrics, List.of());
    }

    /**
     * Uses the caller's own stubs; closing the connection leaves them open. Payloads are encrypted if the variables
     * contain {@link EncryptionKeys#VARIABLE}. Threads have keys of their own if the variables also contain {@link
     * ThreadKeys#VARIABLE}.
     */
    public static Connection over(WorkflowServiceStubs stubs, String namespace, Map<String, String> variables) {
        Settings own = Settings.of(variables);
        WorkflowClientOptions options =
                WorkflowClientOptions.newBuilder().setNamespace(namespace).build();
        try {
            return new Connection(stubs, options, own, serverInfo(stubs), false);
        } catch (StatusRuntimeException e) {
            throw unreachable(stubs, e);
        }
    }

    /**
     * Connects to this address, with the other settings of the environment. The interceptors see all calls of the
     * connection.
     */
    public static Connection to(String address, ClientInterceptor... interceptors) {
        Map<String, String> variables = ProcessEnvironment.get();
        ClientConfigProfile profile =
                settings(variables).toBuilder().setAddress(address).build();
        return open(profile, variables, Optional.empty(), List.of(interceptors));
    }

    /**
     * Connects to this address or, if it is empty, to the address in the environment. The SDK reports its metrics to
     * this scope, if there is one.
     */
    public static Connection counted(Optional<String> address, Optional<Scope> metrics) {
        Map<String, String> variables = ProcessEnvironment.get();
        ClientConfigProfile.Builder profile = settings(variables).toBuilder();
        address.ifPresent(profile::setAddress);
        return open(profile.build(), variables, metrics, List.of());
    }

    /** The codec that these variables configure, for a program without a connection. */
    public static Optional<PayloadCodec> codec(Map<String, String> variables) {
        return Settings.of(variables).converter(namespace(variables)) instanceof PayloadCodec codec
                ? Optional.of(codec)
                : Optional.empty();
    }

    /** The namespace in these variables or in Temporal's configuration. */
    public static String namespace(Map<String, String> variables) {
        return namespace(settings(variables).toWorkflowClientOptions());
    }

    private static ClientConfigProfile settings(Map<String, String> variables) {
        try {
            return ClientConfigProfile.load(LoadClientConfigProfileOptions.newBuilder()
                    .setEnvOverrides(variables)
                    .build());
        } catch (IOException | IllegalArgumentException e) {
            throw new ConnectionException("the Temporal settings can't be read: " + e.getMessage(), e);
        } catch (NullPointerException e) {
            // Thrown by the library for a configuration file without a profile.
            throw new ConnectionException(
                    "the Temporal settings can't be read: no profile in the configuration file", e);
        }
    }

    private static WorkflowServiceStubsOptions stubsOptions(ClientConfigProfile profile) {
        try {
            return profile.toWorkflowServiceStubsOptions();
        } catch (RuntimeException e) {
            // Thrown by the library for certificates and keys that are missing or can't be read.
            throw new ConnectionException("the TLS settings can't be used: " + rootMessage(e), TLS_SETTINGS, e);
        }
    }

    private static Connection open(
            ClientConfigProfile profile,
            Map<String, String> variables,
            Optional<Scope> metrics,
            List<ClientInterceptor> interceptors) {
        Settings own = Settings.of(variables);
        String given = Optional.ofNullable(profile.getAddress()).orElse("");
        Optional<String> problem = addressProblem(given);
        if (problem.isPresent()) {
            throw new ConnectionException(
                    "the server's address " + problem.get() + ": " + given, new IllegalArgumentException(given));
        }
        WorkflowServiceStubsOptions told = stubsOptions(profile);
        // Detects a dead connection in 15 s. The SDK's defaults take three times as long.
        WorkflowServiceStubsOptions.Builder options = WorkflowServiceStubsOptions.newBuilder(told)
                .setEnableKeepAlive(true)
                .setKeepAliveTime(Duration.ofSeconds(10))
                .setKeepAliveTimeout(Duration.ofSeconds(5))
                .setKeepAlivePermitWithoutStream(true)
                .setGrpcClientInterceptors(interceptors)
                // The profile's initializer sets the name that the server's certificate must have.
                .setChannelInitializer(
                        Optional.<Consumer<ManagedChannelBuilder<?>>>ofNullable(told.getChannelInitializer())
                                .map(ofProfile -> ofProfile.andThen(channelInitializer))
                                .orElse(channelInitializer));
        metrics.ifPresent(options::setMetricsScope);
        WorkflowServiceStubs stubs = WorkflowServiceStubs.newServiceStubs(options.build());
        try {
            return new Connection(stubs, profile.toWorkflowClientOptions(), own, serverInfo(stubs), true);
        } catch (StatusRuntimeException e) {
            stubs.shutdownNow();
            throw unreachable(stubs, e);
        }
    }

    /** Why the address is invalid; empty if it is valid. A channel would report this late, with a stack trace. */
    public static Optional<String> addressProblem(String address) {
        if (address.contains("://")) {
            return Optional.of("must be HOST:PORT and not a URL");
        }
        String port = address.substring(address.lastIndexOf(':') + 1);
        return port.matches("[0-9]+") && (port.length() > 5 || Integer.parseInt(port) > LARGEST_PORT)
                ? Optional.of("has no port of 1 to " + LARGEST_PORT)
                : Optional.empty();
    }

    private static WorkflowClient client(WorkflowServiceStubs stubs, WorkflowClientOptions options, Settings own) {
        return WorkflowClient.newInstance(
                stubs,
                WorkflowClientOptions.newBuilder(options)
                        .setDataConverter(own.converter(namespace(options)))
                        .build());
    }

    private static ConnectionException unreachable(WorkflowServiceStubs stubs, StatusRuntimeException e) {
        String target = stubs.getOptions().getTarget();
        for (Throwable cause = e; cause != null; cause = cause.getCause()) {
            if (cause instanceof SSLException) {
                return new ConnectionException(
                        "the TLS handshake with the Temporal server failed: " + target + " (" + rootMessage(cause)
                                + ")",
                        TLS_SETTINGS,
                        e);
            }
        }
        if (ServerAnswer.REFUSED.is(e)) {
            return new ConnectionException(
                    "the Temporal server refuses this client: " + target + " ("
                            + e.getStatus().getCode() + ")",
                    "Check the API key (TEMPORAL_API_KEY) and the client's certificate (TEMPORAL_TLS_CLIENT_CERT_PATH)",
                    e);
        }
        return new ConnectionException(
                "no Temporal server answers: " + target + " (" + e.getStatus().getCode() + ")", e);
    }

    private static String rootMessage(Throwable e) {
        Throwable root = e;
        while (root.getCause() != null) {
            root = root.getCause();
        }
        return root instanceof NoSuchFileException
                ? "no such file: " + root.getMessage()
                : String.valueOf(root.getMessage());
    }

    private static String namespace(WorkflowClientOptions options) {
        return WorkflowClientOptions.newBuilder(options)
                .validateAndBuildWithDefaults()
                .getNamespace();
    }

    /** Asks the server about itself. Retries for 1.5 seconds, since a starting server refuses connections at first. */
    private static ServerInfo serverInfo(WorkflowServiceStubs stubs) {
        AtomicReference<Metadata> headers = new AtomicReference<>(new Metadata());
        ClientInterceptor listening = MetadataUtils.newCaptureMetadataInterceptor(headers, new AtomicReference<>());
        try {
            String version = WHILE_STARTING.send(left -> {
                stubs.getRawChannel().resetConnectBackoff();
                return stubs.blockingStub()
                        .withInterceptors(listening)
                        .withDeadlineAfter(CONNECT_SECONDS, TimeUnit.SECONDS)
                        .getSystemInfo(GetSystemInfoRequest.getDefaultInstance())
                        .getServerVersion();
            });
            Optional<byte[]> saver = Optional.ofNullable(headers.get()).map(received -> received.get(DEFAULT_SAVER));
            return new ServerInfo(
                    new ServerVersion(version), saver.map(bytes -> new String(bytes, StandardCharsets.UTF_8)));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while connecting", e);
        }
    }

    /** The gRPC stubs of this connection. */
    public WorkflowServiceStubs stubs() {
        return stubs;
    }

    /** The client of the Temporal SDK. */
    public WorkflowClient client() {
        return client;
    }

    /** The shares that new threads get. */
    public FairShares fairShares() {
        return fairShares;
    }

    /**
     * Whether the server may give threads fair shares. A server that supports them does not report if they are enabled.
     */
    public boolean mayShareFairly() {
        return FairShares.areKnownTo(server.version());
    }

    /** The address of the server, as {@code host:port}. */
    public String address() {
        return address;
    }

    /** The namespace of all threads of this connection. */
    public String namespace() {
        return client.getOptions().getNamespace();
    }

    /** The version of the server, as it was when the connection was made. */
    public ServerVersion serverVersion() {
        return server.version();
    }

    /** Whether the server is the in-memory one, which forgets everything when it stops. It reports no version. */
    public boolean isInMemory() {
        return server.version().isInMemory();
    }

    /**
     * The saver that an in-memory development server on this machine recommends for named threads, so that they survive
     * the server: {@code file:DIRECTORY}. Empty for other servers.
     */
    public Optional<String> defaultSaver() {
        return server.defaultSaver()
                .filter(target -> isInMemory() && target.startsWith(FILE_SAVER) && isOnThisMachine(address));
    }

    private static boolean isOnThisMachine(String address) {
        try {
            return InetAddress.getByName(address.replaceFirst(":\\d+$", "")).isLoopbackAddress();
        } catch (UnknownHostException e) {
            return false;
        }
    }

    /**
     * The version of the server of these stubs.
     *
     * @throws ConnectionException if it does not answer
     */
    public static ServerVersion serverVersion(WorkflowServiceStubs stubs) {
        try {
            return serverInfo(stubs).version();
        } catch (StatusRuntimeException e) {
            throw unreachable(stubs, e);
        }
    }

    /** Whether the server of these stubs answers within this time. */
    public static boolean answers(WorkflowServiceStubs stubs, Duration most) {
        try {
            stubs.blockingStub()
                    .withDeadlineAfter(most.toMillis(), TimeUnit.MILLISECONDS)
                    .getSystemInfo(GetSystemInfoRequest.getDefaultInstance());
            return true;
        } catch (StatusRuntimeException e) {
            return false;
        }
    }

    /** Determines the state of the server with up to two requests, each with this timeout. */
    public ServerState state(Duration most) {
        try {
            stubs.blockingStub()
                    .withDeadlineAfter(most.toMillis(), TimeUnit.MILLISECONDS)
                    .describeNamespace(DescribeNamespaceRequest.newBuilder()
                            .setNamespace(namespace())
                            .build());
            return ServerState.WORKING;
        } catch (StatusRuntimeException e) {
            if (!answers(stubs, most)) {
                return ServerState.UNREACHABLE;
            }
            // A refusal does not show that the database is missing.
            return ServerAnswer.of(e).mayPass() && !ServerAnswer.BUSY.is(e)
                    ? ServerState.WITHOUT_DATABASE
                    : ServerState.WORKING;
        }
    }

    /** The search attributes of the namespace. */
    public SearchIndex searchIndex() {
        return searchIndex;
    }

    /**
     * Whether threads can have search attributes in this namespace. The answer is used for a minute, since attributes
     * may be created in the meantime. False if the server refuses the request. While the server is unavailable, the
     * last answer applies; before the first answer, it is false.
     */
    public boolean isIndexed() {
        if (!isInMemory() && indexed.isOutdated()) {
            askIfIndexed();
        }
        return indexed.yes();
    }

    /** One caller queries the server. Concurrent callers wait for the answer. */
    private synchronized void askIfIndexed() {
        if (!indexed.isOutdated()) {
            return;
        }
        try {
            indexed = Indexed.until(searchIndex.isComplete(), ASK_IF_INDEXED_EVERY);
        } catch (StatusRuntimeException e) {
            indexed = ServerAnswer.of(e).mayPass()
                    ? Indexed.until(indexed.yes(), ASK_AGAIN_AFTER)
                    : Indexed.until(false, ASK_IF_INDEXED_EVERY);
        }
    }

    /**
     * Makes {@link #isIndexed} false for a minute. Call this after the server refused search attributes that the
     * namespace has: some hosts of the server do not know them yet.
     */
    public void forgetIndex() {
        indexed = Indexed.until(false, ASK_IF_INDEXED_EVERY);
    }

    @Override
    public void close() {
        EncryptedDataConverter.threadKeys(client).ifPresent(ThreadKeys::close);
        if (!ownsStubs) {
            return;
        }
        stubs.shutdownNow();
        stubs.awaitTermination(2, TimeUnit.SECONDS);
    }
}
