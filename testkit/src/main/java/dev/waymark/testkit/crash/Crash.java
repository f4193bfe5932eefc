package dev.waymark.testkit.crash;

import dev.waymark.agent.ToolSpec;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.value.Json;
import dev.waymark.model.ModelFailure;
import dev.waymark.model.ModelProvider;
import dev.waymark.model.ModelRequest;
import dev.waymark.model.ReplyListener;
import dev.waymark.tool.Tool;
import dev.waymark.tool.ToolContext;
import dev.waymark.tool.Verdict;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Kills the worker in this process when a {@link Fault} is due. From that moment on the server hears nothing of the
 * worker, nor the worker of the server; the witness, a file, says that and when it happened; and the process gets a
 * SIGKILL. Whoever waits for the process then asks {@link #witnessed}: a test whose fault did not fire has
 * shown nothing.
 *
 * <pre>{@code
 * Crash crash = Crash.of(Fault.parse(arguments[1]), Path.of(arguments[2]));
 * Connection connection = Connection.to(arguments[0], crash.interceptor());
 * AgentWorker.builder(connection.client())
 *         .agents(agent)
 *         .providers(ModelProviders.of(Map.of("scripted", crash.around(model))))
 *         .tools(JavaTools.of(crash.around(charge)))
 *         .build()
 *         .start();
 * }</pre>
 *
 * Thread-safe.
 */
public final class Crash {
    private final Fault fault;
    private final Path witness;
    private final SelfKill kill;
    private final AtomicInteger passed = new AtomicInteger();
    private final Set<ClientCall<?, ?>> calls = ConcurrentHashMap.newKeySet();
    private volatile boolean silent;

    private Crash(Fault fault, Path witness, SelfKill kill) {
        this.fault = fault;
        this.witness = witness;
        this.kill = kill;
    }

    /** Kills this process when the fault is due. */
    public static Crash of(Fault fault, Path witness) {
        return of(fault, witness, SelfKill.after(1));
    }

    /**
     * One of several workers in this process, each with a client, models and tools of its own. Each is cut off when its
     * own fault is due, and the process is killed when all are.
     */
    public static Crash of(Fault fault, Path witness, SelfKill kill) {
        return new Crash(fault, witness, kill);
    }

    /** When the crash of this witness came, if it did. Any process may ask. */
    public static Optional<Instant> witnessed(Path witness) {
        try {
            if (!Files.exists(witness)) {
                return Optional.empty();
            }
            String[] words = Files.readString(witness).strip().split(" ");
            return words.length == 3 ? Optional.of(Instant.parse(words[2])) : Optional.empty();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Sees what the worker and its server say to each other. For the stubs of the worker's client. */
    public ClientInterceptor interceptor() {
        return new Wiretap(this);
    }

    /** The same provider, with {@link CrashPoint#MODEL_REQUESTED} and {@link CrashPoint#MODEL_REPLIED}. */
    public ModelProvider around(ModelProvider provider) {
        return new ModelProvider() {
            @Override
            public Reply reply(ModelRequest request) throws ModelFailure, InterruptedException {
                return reply(request, words -> {});
            }

            @Override
            public Reply reply(ModelRequest request, ReplyListener listener) throws ModelFailure, InterruptedException {
                pass(CrashPoint.MODEL_REQUESTED);
                Reply reply = provider.reply(request, listener);
                pass(CrashPoint.MODEL_REPLIED);
                return reply;
            }

            @Override
            public void check(String model) throws ModelFailure {
                provider.check(model);
            }
        };
    }

    /** The same tool, with {@link CrashPoint#AFTER_EFFECT}, and {@link CrashPoint#AFTER_CLAIM} where it needs no claim. */
    public Tool around(Tool tool) {
        return new Tool() {
            @Override
            public ToolSpec spec() {
                return tool.spec();
            }

            @Override
            public String run(Json args, ToolContext context) throws Exception {
                if (!spec().hasEffect()) {
                    pass(CrashPoint.AFTER_CLAIM);
                }
                String result = tool.run(args, context);
                pass(CrashPoint.AFTER_EFFECT);
                return result;
            }

            @Override
            public Verdict verify(Json args, ToolContext context) throws Exception {
                return tool.verify(args, context);
            }
        };
    }

    /** The calling thread has come to this point. It stops here, for good, if the process is to die. */
    public void pass(CrashPoint point) {
        come(point);
        while (silent) {
            sleep(Duration.ofDays(1));
        }
    }

    /** As {@link #pass}, but returns: what is silent is silent anyway. */
    void come(CrashPoint point) {
        if (point == fault.point() && passed.incrementAndGet() == fault.passing()) {
            if (fault.after().isZero()) {
                fire();
            } else {
                Thread later = new Thread(
                        () -> {
                            sleep(fault.after());
                            fire();
                        },
                        "crash");
                later.setDaemon(true);
                later.start();
            }
        }
    }

    /** Whether nothing may reach the server any more, nor come from it. */
    boolean isSilent() {
        return silent;
    }

    /** A call that a killed process would no longer hold. */
    void began(ClientCall<?, ?> call) {
        calls.add(call);
    }

    void ended(ClientCall<?, ?> call) {
        calls.remove(call);
    }

    private void fire() {
        Instant now = Instant.now();
        silent = true;
        calls.forEach(call -> call.cancel("killed", null));
        try (FileChannel file = FileChannel.open(
                witness, StandardOpenOption.CREATE, StandardOpenOption.WRITE, StandardOpenOption.APPEND)) {
            String line = "fired " + fault + " " + now + "\n";
            file.write(ByteBuffer.wrap(line.getBytes(StandardCharsets.UTF_8)));
            file.force(true);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        kill.come();
    }

    private static void sleep(Duration time) {
        try {
            Thread.sleep(time.toMillis());
        } catch (InterruptedException e) {
            // A killed process would not hear of it either.
        }
    }
}
