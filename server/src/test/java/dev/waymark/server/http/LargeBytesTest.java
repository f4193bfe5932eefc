package dev.waymark.server.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class LargeBytesTest {
    private static final long LARGE = 1_000_000;

    private final List<String> given = new ArrayList<>();
    private final LargeBytes bytes = new LargeBytes(2 * LARGE);

    private LargeBytes.Share share(String name, long held) {
        LargeBytes.Share share = bytes.share(() -> given.add(name));
        share.hold(held);
        return share;
    }

    @Test
    void overTheLimit_largestShareIsGivenUp() {
        share("one", LARGE);
        share("largest", LARGE + 1);
        share("three", LARGE - 1);

        assertThat(given).containsExactly("largest");
    }

    @Test
    void equalShares_oldestIsGivenUp() {
        share("one", LARGE);
        share("two", LARGE);
        share("three", LARGE);

        assertThat(given).containsExactly("one");
    }

    @Test
    void keptShare_isNotGivenUp() {
        share("answering", 5 * LARGE).keep();
        share("two", LARGE);

        assertThat(given).containsExactly("two");
    }

    @Test
    void releasedBytes_areNotCounted() {
        share("one", LARGE).hold(0);
        share("two", LARGE);
        share("three", LARGE);

        assertThat(given).isEmpty();
    }

    @Test
    void smallShares_areNotCounted_andASingleLargeOneIsAccepted() {
        share("large", 5 * LARGE);
        share("small", LargeBytes.SMALL_BYTES);

        assertThat(given).isEmpty();
    }
}
