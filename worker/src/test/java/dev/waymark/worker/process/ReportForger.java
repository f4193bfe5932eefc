package dev.waymark.worker.process;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * A tool that interferes with the calls of other tools of its user: it writes into every pipe between the launcher of a
 * program and the worker, and within that launcher.
 */
public final class ReportForger {
    /**
     * Writes the output of {@code $2} into the pipes of the launchers of {@code $1}, then creates the file {@code $3}.
     * Ends once it has written and has then seen no such launcher for a second.
     */
    private static final String SCRIPT = """
            program=$1 forgery=$2 done=$3
            written='' quiet=0
            while [ "$quiet" -lt 10 ]; do
                found=''
                # Few processes have the program in their command line: a search in all of them takes one process.
                for line in $(grep -slF -- "$program" /proc/[0-9]*/cmdline); do
                    # A process can run another program by now. What it inherited may be this script's own pipe.
                    words=$(tr '\\0' ' ' 2>/dev/null <"$line") || continue
                    case $words in
                    *forge.sh*) continue ;;
                    *"$program"*) ;;
                    *) continue ;;
                    esac
                    process=${line%%/cmdline}
                    pipe=$(readlink "$process/fd/1") || continue
                    case $pipe in
                    pipe:* | */reports*) ;;
                    *) continue ;;
                    esac
                    found=1
                    # To open a pipe without a reader takes forever.
                    timeout 5 sh -c 'eval "$1" >"$2"' sh "$forgery" "$process/fd/1" 2>/dev/null
                done
                if [ "$found" ]; then
                    : >"$done"
                    written=1 quiet=0
                elif [ "$written" ]; then
                    quiet=$((quiet + 1))
                fi
                sleep 0.1
            done
            """;

    private ReportForger() {}

    /** Stores the script in this directory. */
    public static Path in(Path directory) throws IOException {
        return Files.writeString(directory.resolve("forge.sh"), SCRIPT);
    }
}
