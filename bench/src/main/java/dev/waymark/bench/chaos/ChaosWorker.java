package dev.waymark.bench.chaos;

import dev.waymark.connect.Connection;
import dev.waymark.connect.ServerUnreachable;
import dev.waymark.testkit.crash.Crash;
import dev.waymark.testkit.crash.Fault;
import dev.waymark.testkit.crash.SelfKill;
import dev.waymark.testkit.crash.WorkerProcess;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.stream.Collectors;

/** The {@code main} of a process with the workers of several runs, which are to die or to be suspended. */
final class ChaosWorker {
    private static final int WORDS_A_ROLE = 3;
    private static final int MOST_TRIES = 20;

    private ChaosWorker() {}

    /** What a fault does to the process. */
    enum Ending {
        KILLED,
        SUSPENDED
    }

    /** One of its workers. */
    record Role(String taskQueue, Fault fault, Path witness) {}

    /**
     * Returns once all of its workers are ready.
     *
     * @param ending what becomes of the process once all faults have fired
     */
    static WorkerProcess start(String address, Map<String, String> environment, Ending ending, List<Role> roles)
            throws IOException, InterruptedException {
        List<String> arguments = new ArrayList<>(List.of(address, written(environment), ending.name()));
        roles.forEach(role -> arguments.addAll(List.of(
                role.taskQueue(), role.fault().toString(), role.witness().toString())));
        return WorkerProcess.start(ChaosWorker.class, arguments.toArray(String[]::new));
    }

    public static void main(String[] arguments) throws Exception {
        Map<String, String> environment = read(arguments[1]);
        Ending ending = Ending.valueOf(arguments[2]);
        List<String> roles = List.of(arguments).subList(3, arguments.length);
        BiFunction<Fault, Path, Crash> crashes = crashes(ending, roles.size() / WORDS_A_ROLE);
        for (int i = 0; i < roles.size(); i += WORDS_A_ROLE) {
            Crash crash = crashes.apply(Fault.parse(roles.get(i + 1)), Path.of(roles.get(i + 2)));
            Connection connection = connect(arguments[0], crash);
            ChaosAgents.worker(connection.client(), roles.get(i), environment, crash)
                    .start();
        }
        WorkerProcess.work();
    }

    private static BiFunction<Fault, Path, Crash> crashes(Ending ending, int workers) {
        if (ending == Ending.SUSPENDED) {
            return Crash::suspending;
        }
        SelfKill kill = SelfKill.after(workers);
        return (fault, witness) -> Crash.of(fault, witness, kill);
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

    /** Retries, since a server on a busy machine may answer late. */
    private static Connection connect(String address, Crash crash) throws ServerUnreachable {
        for (int i = 1; ; i++) {
            try {
                return Connection.to(address, crash.interceptor());
            } catch (ServerUnreachable e) {
                if (i == MOST_TRIES) {
                    throw e;
                }
            }
        }
    }
}
