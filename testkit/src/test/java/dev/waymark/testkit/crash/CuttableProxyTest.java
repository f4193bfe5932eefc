package dev.waymark.testkit.crash;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(180)
class CuttableProxyTest {
    @Test
    void connection_whoseTargetRefuses_isClosed() throws Exception {
        try (Socket bound = new Socket()) {
            // Nothing listens at its port, and nothing else can get it.
            bound.bind(new InetSocketAddress("127.0.0.1", 0));
            try (CuttableProxy proxy = new CuttableProxy("127.0.0.1:" + bound.getLocalPort());
                    Socket client = client(proxy)) {
                assertThat(client.getInputStream().read()).isEqualTo(-1);
            }
        }
    }

    private static Socket client(CuttableProxy proxy) throws IOException {
        String address = proxy.address();
        Socket client = new Socket("127.0.0.1", Integer.parseInt(address.substring(address.indexOf(':') + 1)));
        client.setSoTimeout(5_000);
        return client;
    }

    /** A server that sends back each byte. */
    private static ServerSocket echo() throws IOException {
        ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        Thread thread = new Thread(() -> {
            while (!server.isClosed()) {
                try (Socket client = server.accept()) {
                    client.getInputStream().transferTo(client.getOutputStream());
                } catch (IOException e) {
                    // The test is over, or it has cut the connection.
                }
            }
        });
        thread.setDaemon(true);
        thread.start();
        return server;
    }

    private static int echoed(Socket client) throws IOException {
        client.getOutputStream().write('x');
        return client.getInputStream().read();
    }

    @Test
    void connection_withDelay_isSlowInBothDirections() throws Exception {
        try (ServerSocket server = echo();
                CuttableProxy proxy = new CuttableProxy("127.0.0.1:" + server.getLocalPort(), Duration.ofMillis(200));
                Socket client = client(proxy)) {
            long began = System.nanoTime();

            assertThat(echoed(client)).isEqualTo('x');
            assertThat(Duration.ofNanos(System.nanoTime() - began)).isGreaterThanOrEqualTo(Duration.ofMillis(400));
        }
    }

    @Test
    void lastBytesOfAClosedConnection_arrive() throws Exception {
        try (ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
                CuttableProxy proxy = new CuttableProxy("127.0.0.1:" + server.getLocalPort(), Duration.ofMillis(200))) {
            try (Socket client = client(proxy)) {
                client.getOutputStream().write('x');
            }
            try (Socket accepted = server.accept()) {
                assertThat(accepted.getInputStream().read()).isEqualTo('x');
                assertThat(accepted.getInputStream().read()).isEqualTo(-1);
            }
        }
    }

    @Test
    void connection_cut_isClosedAndReplacedAfterReconnect() throws Exception {
        try (ServerSocket server = echo();
                CuttableProxy proxy = new CuttableProxy("127.0.0.1:" + server.getLocalPort());
                Socket client = client(proxy)) {
            assertThat(echoed(client)).isEqualTo('x');

            proxy.cut();

            assertThat(client.getInputStream().read()).isEqualTo(-1);
            try (Socket refused = client(proxy)) {
                assertThat(refused.getInputStream().read()).isEqualTo(-1);
            }
            proxy.reconnect();
            try (Socket again = client(proxy)) {
                assertThat(echoed(again)).isEqualTo('x');
            }
        }
    }

    @Test
    void connection_silenced_getsNothingEvenAfterReconnect() throws Exception {
        try (ServerSocket server = echo();
                CuttableProxy proxy = new CuttableProxy("127.0.0.1:" + server.getLocalPort());
                Socket client = client(proxy)) {
            assertThat(echoed(client)).isEqualTo('x');

            proxy.silence();
            proxy.reconnect();
            client.setSoTimeout(500);

            assertThatThrownBy(() -> echoed(client)).isInstanceOf(SocketTimeoutException.class);
        }
    }
}
