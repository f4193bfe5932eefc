package dev.waymark.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class DelayingProxyTest {
    @Test
    void connection_whoseTargetRefuses_isClosed() throws Exception {
        int unused;
        try (ServerSocket socket = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            unused = socket.getLocalPort();
        }
        try (DelayingProxy proxy = new DelayingProxy("127.0.0.1:" + unused, Duration.ZERO);
                Socket client = new Socket(
                        "127.0.0.1",
                        Integer.parseInt(
                                proxy.address().substring(proxy.address().indexOf(':') + 1)))) {
            client.setSoTimeout(5_000);

            assertThat(client.getInputStream().read()).isEqualTo(-1);
        }
    }
}
