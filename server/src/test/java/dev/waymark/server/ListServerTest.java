package dev.waymark.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.waymark.worker.server.DevServer;
import dev.waymark.worker.server.TemporalBinary;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Lists of threads on Temporal's development server, whose page tokens are not those of the in-memory server. */
@Tag("full")
@Tag("server")
class ListServerTest extends ListCases {
    @Override
    DevServer temporal() throws Exception {
        Optional<Path> binary = TemporalBinary.find();
        assumeTrue(binary.isPresent(), "no temporal command");
        return DevServer.temporal(binary.orElseThrow(), Optional.empty(), 0, 0);
    }

    /** After a full page, the server names a next one, which may be empty. */
    @Test
    void lastPage_thatIsFull_hasNoNextPage() throws Exception {
        String since = Instant.now().toString();
        ann.start("billing", "One of two");
        ann.start("billing", "Two of two");
        await().atMost(Duration.ofMinutes(1))
                .until(() -> ann.get("/v1/threads?agent=billing&since=" + since)
                                .body()
                                .path("threads")
                                .size()
                        == 2);
        int all = ann.get("/v1/threads?agent=billing&limit=100")
                .body()
                .path("threads")
                .size();

        assertThat(ann.get("/v1/threads?agent=billing&limit=" + (all - 1)).text("next"))
                .isNotEmpty();
        HttpCaller.Answer whole = ann.get("/v1/threads?agent=billing&limit=" + all);
        assertThat(whole.body().path("threads")).hasSize(all);
        assertThat(whole.body().has("next")).isFalse();
    }

    /** The server answers such page tokens with an internal error, with an empty page, or with the first page. */
    @Test
    void page_afterInvalidCursor_isBadInput() throws Exception {
        ann.start("assistant", "Hi");
        ann.start("assistant", "Hi");
        String cursor = await().atMost(Duration.ofMinutes(1))
                .until(() -> ann.get("/v1/threads?limit=1").text("next"), next -> !next.isEmpty());

        assertThat(ann.get("/v1/threads?limit=1&after=" + cursor).status()).isEqualTo(200);
        for (String other :
                List.of("garbage", "AAAA", "%00", "e30", "bnVsbA", "W10", cursor + "AAAA", cursor.substring(8))) {
            HttpCaller.Answer answer = ann.get("/v1/threads?after=" + other);
            assertThat(answer.status() + " " + answer.text("code")).as(other).isEqualTo("400 BadInput");
        }
    }
}
