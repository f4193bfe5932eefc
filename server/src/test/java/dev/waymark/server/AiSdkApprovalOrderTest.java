package dev.waymark.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/**
 * The chat of the AI SDK, which sends its last message when everything in it seems to be answered, also at the end of
 * each response.
 */
class AiSdkApprovalOrderTest extends ApprovalOrderCases {
    private static final Duration QUIET = Duration.ofSeconds(2);

    @Override
    ChatPage page() throws Exception {
        return ChatPage.ofAiSdk();
    }

    private int requests() throws Exception {
        return browser.run("return page.evaluate(() => performance.getEntriesByType('resource')"
                        + ".filter(({ name }) => name.includes('/v1/ai-sdk/')).length)")
                .asInt();
    }

    @Test
    void answer_isSentOnce_whileApprovalsWait() throws Exception {
        open("shopper", "tu_3");

        browser.run(press(ANSWER));

        await().during(QUIET).until(() -> requests() <= 2);
        assertThat(requests()).isEqualTo(2);
    }

    @Test
    void approval_isSentOnce_ifTheOutcomeOfItsCallIsUnknown() throws Exception {
        open("sender", "tu_1");

        browser.run(on("tu_1", APPROVE));

        String thread = thread();
        await().atMost(Duration.ofMinutes(1)).until(() -> kinds(thread).equals("unknown"));
        await().during(QUIET).until(() -> requests() <= 2);
        assertThat(requests()).isEqualTo(2);
    }

    private String kinds(String thread) throws Exception {
        JsonNode pending = ann().list(thread, "pending");
        return String.join(",", pending.findValuesAsText("kind"));
    }
}
