package dev.waymark.worker.server;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** The TCP ports on which a process listens, read from Linux's {@code /proc}. */
final class ListeningPorts {
    private static final Pattern SOCKET = Pattern.compile("socket:\\[(\\d+)]");
    private static final String LISTENING = "0A";

    private ListeningPorts() {}

    static Set<Integer> of(long pid) throws IOException {
        Set<String> sockets = new TreeSet<>();
        try (Stream<Path> descriptors = Files.list(Path.of("/proc", Long.toString(pid), "fd"))) {
            for (Path descriptor : descriptors.toList()) {
                Matcher socket = SOCKET.matcher(target(descriptor));
                if (socket.matches()) {
                    sockets.add(socket.group(1));
                }
            }
        }
        Set<Integer> ports = new TreeSet<>();
        for (String table : new String[] {"/proc/net/tcp", "/proc/net/tcp6"}) {
            for (String line : Files.readAllLines(Path.of(table))) {
                String[] fields = line.strip().split("\\s+");
                if (fields.length > 9 && fields[3].equals(LISTENING) && sockets.contains(fields[9])) {
                    ports.add(Integer.parseInt(fields[1].substring(fields[1].indexOf(':') + 1), 16));
                }
            }
        }
        return ports;
    }

    private static String target(Path descriptor) {
        try {
            return Files.readSymbolicLink(descriptor).toString();
        } catch (IOException e) {
            return ""; // Closed meanwhile.
        }
    }
}
