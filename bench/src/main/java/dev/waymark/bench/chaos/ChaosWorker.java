package dev.waymark.bench.chaos;

import dev.waymark.connect.Connection;
import dev.waymark.connect.ConnectionException;
import dev.waymark.testkit.crash.Crash;
import dev.waymark.testkit.crash.CuttableProxy;
import dev.waymark.testkit.crash.Fault;
import dev.waymark.testkit.crash.SelfKill;
import dev.waymark.testkit.crash.WorkerProcess;
import io.grpc.ClientInterceptor;
import io.temporal.client.WorkflowClient;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/** The main class of a process with one worker for each of several runs, and the faults that disrupt these workers. */
final class ChaosWorker {
    private static final int ARGUMENTS_PER_ROLE = 3;
    private static final int MOST_TRIES = 20;
    private static final Duration OUTAGE = Duration.ofSeconds(20);

    private ChaosWorker() {}

    /**
     * A worker in the process, with its fault and the file that records when the fault fired.
     *
     * @param run the id of the worker's run, which is also the name of its task queue
     */
    record Role(String run, Fault fault, Path witness) {}

    /** Starts the process, and returns once all its workers are ready. */
    static WorkerProcess start(String address, Map<String, String> environment, Disruption disruption, List<Role> roles)
            throws IOException, InterruptedException {
        List<String> arguments = new ArrayList<>(List.of(address, written(environment), disruption.name()));
        roles.forEach(role -> arguments.addAll(
                List.of(role.run(), role.fault().toString(), role.witness().toString())));
        return WorkerProcess.start(ChaosWorker.class, arguments.toArray(String[]::new));
    }

    public static void main(String[] arguments) throws Exception {
        String address = arguments[0];
        Map<String, String> environment = read(arguments[1]);
        Disruption disruption = Disruption.valueOf(arguments[2]);
        List<Role> roles = new ArrayList<>();
        for (int i = 3; i < arguments.length; i += ARGUMENTS_PER_ROLE) {
            roles.add(new Role(arguments[i], Fault.parse(arguments[i + 1]), Path.of(arguments[i + 2])));
        }
        SelfKill kill = SelfKill.after(roles.size());
        for (Role role : roles) {
            switch (disruption) {
                case WORKER_KILLED -> work(role, environment, address, Crash.of(role.fault(), role.witness(), kill));
                case HOST_FROZEN -> work(role, environment, address, Crash.suspending(role.fault(), role.witness()));
                case SERVER_AWAY -> {
                    CuttableProxy proxy = new CuttableProxy(address);
                    Runnable outage = () -> interruptFor(proxy, OUTAGE);
                    work(role, environment, proxy.address(), Crash.of(role.fault(), role.witness(), outage));
                }
                case RESUMED_TWICE -> {
                    WorkflowClient operator = connect(address).client();
                    Runnable termination =
                            () -> operator.newUntypedWorkflowStub(role.run()).terminate("to be resumed");
                    work(role, environment, address, Crash.of(role.fault(), role.witness(), termination));
                }
            }
        }
        WorkerProcess.work();
    }

    private static void work(Role role, Map<String, String> environment, String address, Crash crash) {
        WorkflowClient client = connect(address, crash.interceptor()).client();
        ChaosAgents.worker(client, role.run(), environment, crash).start();
    }

    private static void interruptFor(CuttableProxy proxy, Duration time) {
        proxy.cut();
        CompletableFuture.delayedExecutor(time.toMillis(), TimeUnit.MILLISECONDS)
                .execute(proxy::reconnect);
    }

    private static String written(Map<String, String> variables) {
        return variables.entrySet().stream()
                .map(variable -> variable.getKey() + "=" + variable.getValue())
                .collect(Collectors.joining(" "));
    }

    private static Map<String, String> read(String variables) {
        return Arrays.stream(variables.split(" "))
                .map(variable -> variable.split("=", 2))
                .collect(Collectors.toMap(words -> words[0], words -> words[1]));
    }

    /** Retries, because a server on a busy machine may answer late. */
    private static Connection connect(String address, ClientInterceptor... interceptors) {
        for (int i = 1; ; i++) {
            try {
                return Connection.to(address, interceptors);
            } catch (ConnectionException e) {
                if (i == MOST_TRIES) {
                    throw e;
                }
            }
        }
    }
}
