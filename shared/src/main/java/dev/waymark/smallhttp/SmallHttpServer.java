package dev.waymark.smallhttp;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Serves small requests over HTTP/1.1, one for each connection. One Java thread receives requests and sends replies
 * without blocking; other Java threads only answer requests that are complete. A client that stalls therefore delays
 * nobody, unlike with the server of the JDK, which blocks a Java thread from the first byte of a request.
 *
 * <p>A head must arrive within 10 seconds and have at most 16 KiB, a body must arrive and a reply be read within 30
 * seconds each. Of 1,000 connections, the oldest one without a complete request is closed for a new one. Bodies and
 * replies of more than 64 KiB share a 32nd of the heap: the largest ones that stall are given up for others.
 */
public final class SmallHttpServer implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(SmallHttpServer.class);

    private static final int MAX_CONNECTIONS = 1_000;
    private static final int MAX_HEAD_BYTES = 16 * 1024;
    private static final int READ_BYTES = 64 * 1024;
    private static final int SMALL_BYTES = 64 * 1024;
    private static final int SHARE_OF_HEAP = 32;
    private static final int CONNECTING = 1_024;
    private static final Duration HEAD_TIME = Duration.ofSeconds(10);
    private static final Duration BODY_TIME = Duration.ofSeconds(30);
    private static final Duration REPLY_TIME = Duration.ofSeconds(30);
    /** How long to read on after a reply, since closing a connection with unread bytes may destroy the reply. */
    private static final Duration LINGER_TIME = Duration.ofSeconds(1);

    private static final Duration CLOSE_TIME = Duration.ofSeconds(2);
    private static final long TICK_MILLIS = 250;
    private static final byte[] CONTINUE = "HTTP/1.1 100 Continue\r\n\r\n".getBytes(StandardCharsets.US_ASCII);

    private final SmallHttpService service;
    private final long mostLargeBytes;
    private final Duration headTime;
    private final Selector selector;
    private final ServerSocketChannel listening;
    private final InetSocketAddress address;
    private final ExecutorService threads;
    private final Thread listener;
    private final ByteBuffer input = ByteBuffer.allocateDirect(READ_BYTES);
    private final Queue<Runnable> answered = new ConcurrentLinkedQueue<>();
    /** The oldest first. Only the listening Java thread uses it. */
    private final Set<Exchange> exchanges = new LinkedHashSet<>();

    private volatile boolean closed;

    private SmallHttpServer(
            InetSocketAddress address,
            int threads,
            String name,
            SmallHttpService service,
            long mostLargeBytes,
            Duration headTime)
            throws IOException {
        this.service = service;
        this.mostLargeBytes = mostLargeBytes;
        this.headTime = headTime;
        this.selector = Selector.open();
        this.listening = ServerSocketChannel.open();
        try {
            listening.setOption(StandardSocketOptions.SO_REUSEADDR, true);
            listening.bind(address, CONNECTING);
            listening.configureBlocking(false);
            listening.register(selector, SelectionKey.OP_ACCEPT);
            this.address = (InetSocketAddress) listening.getLocalAddress();
        } catch (IOException e) {
            listening.close();
            selector.close();
            throw e;
        }
        this.threads = Executors.newFixedThreadPool(threads, task -> daemon(task, name));
        this.listener = daemon(this::listen, name + "-listener");
    }

    private static Thread daemon(Runnable task, String name) {
        Thread thread = new Thread(task, name);
        thread.setDaemon(true);
        return thread;
    }

    /**
     * Starts listening. Port 0 takes any free port.
     *
     * @param threads how many requests are answered at a time
     * @param name the name of the Java threads
     * @throws IOException if the address cannot be listened on
     */
    public static SmallHttpServer start(InetSocketAddress address, int threads, String name, SmallHttpService service)
            throws IOException {
        return start(address, threads, name, service, Runtime.getRuntime().maxMemory() / SHARE_OF_HEAP, HEAD_TIME);
    }

    /**
     * @param mostLargeBytes how many bytes bodies and replies of more than 64 KiB may have together
     * @param headTime how long a request may take to arrive up to its body
     */
    static SmallHttpServer start(
            InetSocketAddress address,
            int threads,
            String name,
            SmallHttpService service,
            long mostLargeBytes,
            Duration headTime)
            throws IOException {
        SmallHttpServer server = new SmallHttpServer(address, threads, name, service, mostLargeBytes, headTime);
        server.listener.start();
        return server;
    }

    public InetSocketAddress address() {
        return address;
    }

    private void listen() {
        try {
            while (!closed) {
                selector.select(this::ready, TICK_MILLIS);
                for (Runnable next = answered.poll(); next != null; next = answered.poll()) {
                    next.run();
                }
                long now = System.nanoTime();
                List.copyOf(exchanges).stream().filter(each -> each.isLate(now)).forEach(Exchange::close);
            }
        } catch (IOException e) {
            LOG.error("The server at {} has failed", address, e);
        } finally {
            List.copyOf(exchanges).forEach(Exchange::close);
            try (selector;
                    listening) {
                LOG.debug("The server at {} is closed", address);
            } catch (IOException e) {
                LOG.warn("The server at {} was not closed properly", address, e);
            }
        }
    }

    private void ready(SelectionKey key) {
        if (key.attachment() instanceof Exchange exchange) {
            exchange.ready();
        } else {
            accept();
        }
    }

    private void accept() {
        try {
            for (SocketChannel client = listening.accept(); client != null; client = listening.accept()) {
                if (exchanges.size() >= MAX_CONNECTIONS) {
                    exchanges.stream()
                            .filter(each -> each.state != State.ANSWERING)
                            .findFirst()
                            .ifPresent(Exchange::close);
                }
                if (exchanges.size() >= MAX_CONNECTIONS) {
                    client.close();
                } else {
                    client.configureBlocking(false);
                    exchanges.add(new Exchange(client));
                }
            }
        } catch (IOException e) {
            LOG.warn("A connection to {} failed", address, e);
        }
    }

    /**
     * Gives up the largest bodies that are being received, and the largest replies that are being sent, until all fit
     * into the memory that they share. A single one always does. Of equal ones, the oldest goes first: its client is
     * more likely to stall.
     */
    private void makeRoom() {
        while (true) {
            List<Exchange> large = exchanges.stream()
                    .filter(each -> each.heldBytes() > SMALL_BYTES)
                    .toList();
            long held = large.stream().mapToLong(Exchange::heldBytes).sum();
            Optional<Exchange> largest = large.stream()
                    .filter(each -> each.state != State.ANSWERING)
                    .reduce((one, other) -> other.heldBytes() > one.heldBytes() ? other : one);
            if (held <= mostLargeBytes || large.size() == 1 || largest.isEmpty()) {
                return;
            }
            largest.get().giveUp();
        }
    }

    @Override
    public void close() {
        closed = true;
        selector.wakeup();
        threads.shutdownNow();
        try {
            listener.join(CLOSE_TIME.toMillis());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private enum State {
        READING_HEAD,
        READING_BODY,
        ANSWERING,
        REPLYING,
        LINGERING
    }

    /** One connection. Only the listening Java thread uses it. */
    private final class Exchange {
        private final SocketChannel client;
        private final SelectionKey key;
        private State state = State.READING_HEAD;
        private long deadline = System.nanoTime() + headTime.toNanos();
        private ByteArrayOutputStream received = new ByteArrayOutputStream();
        private Optional<SmallHttpRequest> request = Optional.empty();
        private int bodyBytes;
        private ByteBuffer[] output = new ByteBuffer[0];

        Exchange(SocketChannel client) throws IOException {
            this.client = client;
            this.key = client.register(selector, SelectionKey.OP_READ, this);
        }

        /** How many bytes of a body or a reply are in memory. */
        int heldBytes() {
            return switch (state) {
                case READING_HEAD, READING_BODY -> received.size();
                case ANSWERING -> bodyBytes;
                case REPLYING -> output[1].capacity();
                case LINGERING -> 0;
            };
        }

        void giveUp() {
            if (state == State.READING_BODY) {
                reply(SmallHttpReply.text(503, "too many large requests at a time; try again")
                        .withHeader("Retry-After", "1"));
            } else {
                close();
            }
        }

        boolean isLate(long now) {
            return state != State.ANSWERING && now - deadline > 0;
        }

        private void become(State next, Duration most, int interest) {
            state = next;
            deadline = System.nanoTime() + most.toNanos();
            key.interestOps(interest);
        }

        void ready() {
            try {
                if (state == State.REPLYING) {
                    write();
                } else {
                    read();
                }
            } catch (IOException | CancelledKeyException e) {
                close(); // The client has gone.
            }
        }

        private void read() throws IOException {
            input.clear();
            int count = client.read(input);
            if (count < 0) {
                close();
            } else if (state != State.LINGERING) {
                byte[] bytes = new byte[count];
                input.flip().get(bytes);
                received.write(bytes);
                try {
                    take();
                } catch (SmallHttpRequest.Malformed e) {
                    reply(e.reply());
                }
                if (heldBytes() > SMALL_BYTES) {
                    makeRoom();
                }
            }
        }

        private void take() throws IOException, SmallHttpRequest.Malformed {
            if (state == State.READING_HEAD) {
                byte[] bytes = received.toByteArray();
                int end = headEnd(bytes);
                if (end > MAX_HEAD_BYTES || (end < 0 && bytes.length > MAX_HEAD_BYTES)) {
                    throw new SmallHttpRequest.Malformed(
                            431, "the headers may have at most " + MAX_HEAD_BYTES + " bytes");
                }
                if (end < 0) {
                    return;
                }
                SmallHttpRequest head = SmallHttpRequest.parse(Arrays.copyOf(bytes, end));
                request = Optional.of(head);
                Optional<SmallHttpReply> refusal = service.refusal(head);
                if (refusal.isPresent()) {
                    reply(refusal.get());
                    return;
                }
                bodyBytes = head.contentLength(service.maxBodyBytes(head));
                received = new ByteArrayOutputStream();
                received.write(bytes, end + 4, bytes.length - end - 4);
                become(State.READING_BODY, BODY_TIME, SelectionKey.OP_READ);
                if (received.size() < bodyBytes && head.header("Expect").isPresent()) {
                    client.write(ByteBuffer.wrap(CONTINUE));
                }
            }
            if (received.size() >= bodyBytes) {
                answer(request.orElseThrow().withBody(Arrays.copyOf(received.toByteArray(), bodyBytes)));
            }
        }

        private void answer(SmallHttpRequest complete) {
            received = new ByteArrayOutputStream();
            become(State.ANSWERING, Duration.ZERO, 0);
            try {
                threads.execute(() -> {
                    SmallHttpReply reply = answered(complete);
                    answered.add(() -> reply(reply));
                    selector.wakeup();
                });
            } catch (RejectedExecutionException e) {
                close(); // The server is being closed.
            }
        }

        private SmallHttpReply answered(SmallHttpRequest complete) {
            try {
                return service.answer(complete);
            } catch (RuntimeException e) {
                LOG.error("A request for {} failed", complete.path(), e);
                return SmallHttpReply.text(500, "internal error; see the server's log");
            }
        }

        private void reply(SmallHttpReply reply) {
            received = new ByteArrayOutputStream();
            boolean isHead =
                    request.filter(head -> head.method().equals("HEAD")).isPresent();
            output = new ByteBuffer[] {
                ByteBuffer.wrap(reply.head()), ByteBuffer.wrap(isHead ? new byte[0] : reply.body())
            };
            try {
                become(State.REPLYING, REPLY_TIME, SelectionKey.OP_WRITE);
                write();
                if (heldBytes() > SMALL_BYTES) {
                    makeRoom();
                }
            } catch (IOException | CancelledKeyException e) {
                close();
            }
        }

        private void write() throws IOException {
            client.write(output);
            if (!output[1].hasRemaining()) {
                output = new ByteBuffer[0];
                client.shutdownOutput();
                become(State.LINGERING, LINGER_TIME, SelectionKey.OP_READ);
            }
        }

        void close() {
            exchanges.remove(this);
            key.cancel();
            try {
                client.close();
            } catch (IOException e) {
                LOG.debug("A connection was not closed properly", e);
            }
        }
    }

    /** The index of the empty line that ends a head; -1 if the head is incomplete. */
    private static int headEnd(byte[] bytes) {
        for (int i = 0; i + 3 < bytes.length; i++) {
            if (bytes[i] == '\r' && bytes[i + 1] == '\n' && bytes[i + 2] == '\r' && bytes[i + 3] == '\n') {
                return i;
            }
        }
        return -1;
    }
}
