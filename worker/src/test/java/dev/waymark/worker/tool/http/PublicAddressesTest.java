package dev.waymark.worker.tool.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.agent.Endpoint;
import dev.waymark.conversation.value.Json;
import dev.waymark.worker.process.ProcessFence;
import dev.waymark.worker.tool.kind.EffectKeys;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import okhttp3.Dns;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PublicAddressesTest {
    /** Resolves no name that would require a DNS server. */
    private static final Dns NO_NAMES = host -> switch (host) {
        case "inside.example" -> List.of(InetAddress.getByName("10.1.2.3"));
        case "inside6.example" -> List.of(InetAddress.getByName("fd12:3456::1"));
        case "metadata.example" -> List.of(InetAddress.getByName("169.254.169.254"));
        default -> {
            if (host.matches("(?i)[0-9a-fx.]+|(.*\\.)?localhost\\.?")) {
                yield Dns.SYSTEM.lookup(host);
            }
            throw new UnknownHostException(host);
        }
    };

    @ParameterizedTest
    @ValueSource(
            strings = {
                "1.1.1.1",
                "8.8.8.8",
                "9.255.255.255",
                "11.0.0.0",
                "100.63.255.255",
                "100.128.0.0",
                "126.255.255.255",
                "128.0.0.1",
                "169.253.255.255",
                "169.255.0.0",
                "172.15.255.255",
                "172.32.0.0",
                "192.0.1.0",
                "192.0.3.0",
                "192.167.255.255",
                "192.169.0.0",
                "198.17.255.255",
                "198.20.0.0",
                "203.0.112.255",
                "223.255.255.255",
                "2606:4700:4700::1111",
                "2001:4860:4860::8888",
                "2a00:1450::1",
                "2003::1",
                "64:ff9b::808:808",
                "2001:200::1"
            })
    void publicAddress_isPublic(String address) throws Exception {
        assertThat(PublicAddresses.isPublic(InetAddress.getByName(address))).isTrue();
    }

    /** Each is used as the host of a URL. None may be connected to, however the JDK and the system interpret it. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                // plain addresses
                "0.0.0.0",
                "0.1.2.3",
                "10.0.0.1",
                "10.255.255.255",
                "100.64.0.1",
                "100.127.255.255",
                "127.0.0.1",
                "127.1.2.3",
                "127.255.255.255",
                "169.254.0.1",
                "169.254.169.254",
                "169.254.170.2",
                "172.16.0.1",
                "172.31.255.255",
                "192.0.0.1",
                "192.0.0.192",
                "192.0.2.1",
                "192.88.99.1",
                "192.168.0.1",
                "192.168.255.255",
                "198.18.0.1",
                "198.19.255.255",
                "198.51.100.7",
                "203.0.113.9",
                "224.0.0.1",
                "239.255.255.250",
                "240.0.0.1",
                "255.255.255.255",
                "[::]",
                "[::1]",
                "[0:0:0:0:0:0:0:1]",
                "[fe80::1]",
                "[febf::1]",
                "[fec0::1]",
                "[fc00::1]",
                "[fd00::1]",
                "[fd00:ec2::254]",
                "[ff02::1]",
                "[100::1]",
                "[2001:db8::1]",
                "[3fff::1]",
                "[5f00::1]",
                "[4000::1]",
                // IPv4 within IPv6
                "[::ffff:127.0.0.1]",
                "[::ffff:7f00:1]",
                "[::ffff:10.0.0.1]",
                "[::ffff:169.254.169.254]",
                "[::127.0.0.1]",
                "[::ffff:0:127.0.0.1]",
                "[64:ff9b::127.0.0.1]",
                "[64:ff9b::a9fe:a9fe]",
                "[64:ff9b::10.0.0.1]",
                "[64:ff9b:1::1]",
                "[2002:7f00:1::]",
                "[2002:a9fe:a9fe::1]",
                "[2001:0:4136:e378:8000:63bf:3fff:fdd2]",
                "[2001::1]",
                "[2001:10::1]",
                // other spellings
                "2130706433",
                "3232235521",
                "2852039166",
                "0x7f000001",
                "0x7f.1",
                "0x7f.0.0.1",
                "0177.0.0.1",
                "0177.1",
                "017700000001",
                "127.1",
                "127.0.1",
                "10.1",
                "0",
                "0.0",
                "0x0",
                "00.00.00.00",
                "0xa9fea9fe",
                "169.254.43518",
                "0251.0376.0251.0376",
                "127.0.0.1.",
                "127.0.0.01",
                "4294967295",
                "%31%32%37.0.0.1",
                "%30",
                "１２７.０.０.１",
                "127。0。0。1",
                "①②⑦.0.0.1",
                // names
                "localhost",
                "LOCALHOST",
                "localhost.",
                "a.localhost",
                "ｌocalhost",
                "l%6fcalhost",
                "inside.example",
                "inside.example.",
                "inside6.example",
                "metadata.example",
                "METADATA.example"
            })
    void privateHost_isNotConnectedTo(String host) throws Exception {
        List<InetAddress> looked = new CopyOnWriteArrayList<>();
        try (HttpRunner runner = new HttpRunner(Map.of(), NO_NAMES, address -> {
            looked.add(address);
            return false;
        })) {
            HttpResult result = runner.run(
                    Endpoint.of(Endpoint.Method.GET, "http://" + host + "/"),
                    Json.EMPTY_OBJECT,
                    EffectKeys.NONE,
                    ProcessFence.in(Duration.ofSeconds(60)));

            assertThat(result).isInstanceOf(HttpResult.NotSent.class);
            assertThat(result.words())
                    .matches("its address is private.*|no such host|the tool's url: (not an HTTP URL|expected .*)");
        }
        // Some JDKs read octal numbers as decimal. Then they would also connect to the decimal address.
        assertThat(looked).filteredOn(PublicAddresses::isPublic).allMatch(address -> host.matches("0\\d\\d+\\..*"));
    }

    @Test
    void userBeforeTheHost_isRefused() throws Exception {
        try (HttpRunner runner = new HttpRunner(Map.of("USER_HOST", "a.example@127.0.0.1"))) {
            for (String url : List.of(
                    "http://a.example@127.0.0.1/",
                    "http://a.example:80@127.0.0.1/",
                    "http://127.0.0.1\\@a.example/",
                    "http://${USER_HOST}/")) {
                assertThat(runner.run(
                                Endpoint.of(Endpoint.Method.GET, url),
                                Json.EMPTY_OBJECT,
                                EffectKeys.NONE,
                                ProcessFence.in(Duration.ofSeconds(60))))
                        .as(url)
                        .isInstanceOf(HttpResult.NotSent.class)
                        .extracting(HttpResult::words)
                        .asString()
                        .startsWith("the tool's url: ");
            }
        }
    }
}
