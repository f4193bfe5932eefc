package example;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;

/** Records charges in a ledger, which runs in the test's process, outlives every worker, and counts the charges. */
final class LedgerPayments implements Payments {
    private final int port;

    LedgerPayments(int port) {
        this.port = port;
    }

    @Override
    public String charge(String customer, int cents, String key) throws IOException {
        return ask("effect " + key + " " + customer);
    }

    @Override
    public boolean wasCharged(String key) throws IOException {
        return ask("landed " + key).equals("yes");
    }

    private String ask(String line) throws IOException {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            socket.getOutputStream().write((line + "\n").getBytes(StandardCharsets.UTF_8));
            return new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8))
                    .readLine();
        }
    }
}
