package dev.waymark.worker.process;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A child process that ends with this JVM. A shell guards the program and reads from a pipe of the JVM. When the JVM
 * ends for any reason, the pipe closes and the shell ends the program. The shell and the program run in a separate
 * session: a Ctrl-C in the terminal leaves them running while the worker drains. A signal that kills the worker's
 * process group does not reach the shell, so the shell can still end the program.
 */
public final class GuardedProgram {
    private static final int STOP_SECONDS = 10;

    /**
     * Ends the program when stdin closes, and exits when the program exits. The shell ignores signals: they are meant
     * for the worker, which controls the shell through stdin. The program does not ignore them, because then only
     * SIGKILL could end it.
     */
    private static final String GUARD = """
            trap '' INT HUP TERM
            umask 077
            exec 3<&0 </dev/null
            (trap - INT HUP TERM; exec "$@" 3<&-) &
            program=$!
            {
                while read -r line; do :; done <&3
                for second in 1 2 3 4 5 6 7 8; do
                    kill -TERM "$program" || exit
                    sleep 1
                done
                kill -KILL "$program"
            } 2>/dev/null &
            guard=$!
            exec 3<&-
            wait "$program"
            code=$?
            # The shell would report that the guard was killed, or has exited already.
            exec 2>/dev/null
            kill -KILL "$guard" && wait "$guard"
            exit "$code"
            """;

    private GuardedProgram() {}

    /** Prepares the program without starting it. Its stdin is empty. */
    public static ProcessBuilder builder(List<String> program) {
        List<String> command = new ArrayList<>(Shell.inSession(GUARD));
        command.addAll(program);
        return new ProcessBuilder(command);
    }

    /** Ends a program: with SIGTERM, then with SIGKILL. Waits up to ten seconds for its end. */
    public static void end(Process process) {
        try {
            process.getOutputStream().close();
            if (process.waitFor(STOP_SECONDS, TimeUnit.SECONDS)) {
                return;
            }
        } catch (IOException e) {
            // The shell has exited already.
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly();
    }
}
