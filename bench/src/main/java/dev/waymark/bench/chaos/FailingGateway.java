package dev.waymark.bench.chaos;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * A gateway in front of the ledger, in a process that is not killed: every request takes effect, and is answered with
 * 504.
 */
final class FailingGateway implements AutoCloseable {
    private static final String PORT = "GATEWAY_PORT";
    private static final int GATEWAY_TIMEOUT = 504;

    private final HttpServer server;
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final int ledgerPort;

    private FailingGateway(int ledgerPort) {
        this.ledgerPort = ledgerPort;
        try {
            this.server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        } catch (IOException e) {
            threads.shutdown();
            throw new UncheckedIOException(e);
        }
    }

    static FailingGateway open(int ledgerPort) {
        FailingGateway gateway = new FailingGateway(ledgerPort);
        gateway.server.setExecutor(gateway.threads);
        gateway.server.createContext("/", gateway::serve);
        gateway.server.start();
        return gateway;
    }

    /** Returns the environment variables through which workers in any process find this gateway. */
    Map<String, String> environment() {
        return Map.of(PORT, Integer.toString(server.getAddress().getPort()));
    }

    static String url(Map<String, String> environment) {
        return "http://127.0.0.1:" + environment.get(PORT) + "/";
    }

    private void serve(HttpExchange exchange) throws IOException {
        try (exchange;
                Socket ledger = new Socket(InetAddress.getLoopbackAddress(), ledgerPort)) {
            exchange.getRequestBody().readAllBytes();
            String effect = "effect " + exchange.getRequestHeaders().getFirst("Idempotency-Key") + " http "
                    + exchange.getRequestHeaders().getFirst("Waymark-Fencing-Token") + "\n";
            ledger.getOutputStream().write(effect.getBytes(StandardCharsets.UTF_8));
            ledger.getInputStream().read();
            exchange.sendResponseHeaders(GATEWAY_TIMEOUT, -1);
        }
    }

    @Override
    public void close() {
        server.stop(0);
        threads.shutdownNow();
    }
}
