package dev.waymark.e2e.product;

import dev.waymark.starter.WaymarkCommand;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.OutputStreamWriter;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;

/**
 * A process that reads commands from its standard input, and runs them one after the other. It exits at the end
 * of its input, so it does not outlive the process that started it.
 */
final class CommandHost {
    private CommandHost() {}

    public static void main(String[] none) throws IOException {
        DataInputStream requests = new DataInputStream(System.in);
        DataOutputStream replies = new DataOutputStream(System.out);
        while (true) {
            String[] arguments;
            try {
                arguments = new String[requests.readInt()];
            } catch (EOFException e) {
                System.exit(0);
                return;
            }
            for (int i = 0; i < arguments.length; i++) {
                arguments[i] = text(read(requests));
            }
            System.setIn(new ByteArrayInputStream(read(requests)));
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            ByteArrayOutputStream err = new ByteArrayOutputStream();
            System.setOut(new PrintStream(out, true, StandardCharsets.UTF_8));
            System.setErr(new PrintStream(err, true, StandardCharsets.UTF_8));
            int exitCode = WaymarkCommand.execute(writer(out), writer(err), arguments);
            replies.writeInt(exitCode);
            write(replies, out.toByteArray());
            write(replies, err.toByteArray());
            replies.flush();
        }
    }

    private static PrintWriter writer(ByteArrayOutputStream to) {
        return new PrintWriter(new OutputStreamWriter(to, StandardCharsets.UTF_8), true);
    }

    static String text(byte[] bytes) {
        return new String(bytes, StandardCharsets.UTF_8);
    }

    static byte[] read(DataInputStream from) throws IOException {
        return from.readNBytes(from.readInt());
    }

    static void write(DataOutputStream to, byte[] bytes) throws IOException {
        to.writeInt(bytes.length);
        to.write(bytes);
    }
}
