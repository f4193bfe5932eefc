package dev.waymark.testkit.crash;

import dev.waymark.agent.ToolSpec;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.value.Json;
import dev.waymark.model.ModelFailure;
import dev.waymark.model.ModelProvider;
import dev.waymark.model.ModelRequest;
import dev.waymark.model.ReplyListener;
import dev.waymark.testkit.process.ProcessFamily;
import dev.waymark.tool.Tool;
import dev.waymark.tool.ToolContext;
import dev.waymark.tool.VerifyResult;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Kills the worker in this process when a {@link Fault} is due. At that moment, the worker loses its connection to the
 * server, the witness file records the time, and the process gets a SIGKILL. The test then checks {@link #witnessed},
 * because a test whose fault did not fire has shown nothing.
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
    private static final Duration SIGNAL_TAKEN_WITHIN = Duration.ofSeconds(1);

    private final Fault fault;
    private final Path witness;
    private final Runnable end;
    /** False if the worker survives the fault. */
    private final boolean cutsOff;

    private final AtomicInteger passed = new AtomicInteger();
    private final Set<ClientCall<?, ?>> calls = ConcurrentHashMap.newKeySet();
    private volatile boolean silent;

    private Crash(Fault fault, Path witness, Runnable end, boolean cutsOff) {
        this.fault = fault;
        this.witness = witness;
        this.end = end;
        this.cutsOff = cutsOff;
    }

    /** Creates a crash that kills this process when the fault is due. */
    public static Crash of(Fault fault, Path witness) {
        return of(fault, witness, SelfKill.after(1));
    }

    /**
     * Creates the crash of one of several workers in this process, each with its own client, models and tools. Each
     * worker is cut off when its own fault is due. The process is killed after the last of the crashes that {@code
     * kill} expects.
     */
    public static Crash of(Fault fault, Path witness, SelfKill kill) {
        return new Crash(fault, witness, kill::come, true);
    }

    /**
     * Creates a crash that suspends this process and its descendants with SIGSTOP when the fault is due, like a host
     * that freezes. After a SIGCONT, the worker continues where it stopped. The test then checks that nothing happens a
     * second time.
     */
    public static Crash suspending(Fault fault, Path witness) {
        return of(fault, witness, Crash::suspendAll);
    }

    /**
     * Creates a crash that runs this action when the fault is due, instead of killing the process. The worker continues
     * when the action returns. Use it for faults outside of the worker, such as a {@link CuttableProxy} that is cut.
     */
    public static Crash of(Fault fault, Path witness, Runnable action) {
        return new Crash(fault, witness, action, false);
    }

    /** Creates a crash that cuts the worker off for good, and then runs this action instead of killing the process. */
    static Crash cuttingOff(Fault fault, Path witness, Runnable action) {
        return new Crash(fault, witness, action, true);
    }

    /** Creates a crash that does not happen. */
    static Crash never(Path witness) {
        return new Crash(Fault.at(CrashPoint.MODEL_REQUESTED).passing(Integer.MAX_VALUE), witness, () -> {}, true);
    }

    /** Returns the time of the crash that this witness file records, if it happened. Works in any process. */
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

    /** Returns an interceptor that observes the worker's calls to its server. Add it to the worker's connection. */
    public ClientInterceptor interceptor() {
        return new Wiretap(this);
    }

    /** Wraps a provider, so that it passes {@link CrashPoint#MODEL_REQUESTED} and {@link CrashPoint#MODEL_REPLIED}. */
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

    /**
     * Wraps a tool, so that it passes {@link CrashPoint#AFTER_EFFECT}, and {@link CrashPoint#AFTER_CLAIM} if it needs
     * no claim.
     */
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
            public VerifyResult verify(Json args, ToolContext context) throws Exception {
                return tool.verify(args, context);
            }
        };
    }

    /** Reports that the calling thread has reached this point. Does not return once the worker is cut off. */
    public void pass(CrashPoint point) {
        come(point);
        while (silent) {
            sleep(Duration.ofDays(1));
        }
    }

    /** Like {@link #pass}, but always returns. For gRPC calls, which {@link Wiretap} blocks itself. */
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

    /** Whether the worker is cut off from the server. */
    boolean isSilent() {
        return silent;
    }

    /** Registers a started gRPC call, which the crash cancels if it has not ended. */
    void began(ClientCall<?, ?> call) {
        calls.add(call);
        if (silent) {
            cancel(call);
        }
    }

    void ended(ClientCall<?, ?> call) {
        calls.remove(call);
    }

    private void fire() {
        Instant now = Instant.now();
        if (cutsOff) {
            silent = true;
            calls.forEach(Crash::cancel);
        }
        // Not a channel, because an interrupted thread could not write to it.
        try (FileOutputStream file = new FileOutputStream(witness.toFile(), true)) {
            String line = "fired " + fault + " " + now + "\n";
            file.write(line.getBytes(StandardCharsets.UTF_8));
            file.getFD().sync();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        end.run();
    }

    private static void cancel(ClientCall<?, ?> call) {
        call.cancel("killed", null);
    }

    /** Suspends this process and its descendants. Returns when the process continues. */
    private static void suspendAll() {
        try {
            ProcessFamily.signal("STOP", ProcessHandle.current());
            // On a busy machine, this thread could continue before another thread has received the signal.
            Thread.sleep(SIGNAL_TAKEN_WITHIN.toMillis());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void sleep(Duration time) {
        try {
            Thread.sleep(time.toMillis());
        } catch (InterruptedException e) {
            // A killed process would not notice the interruption either.
        }
    }
}
