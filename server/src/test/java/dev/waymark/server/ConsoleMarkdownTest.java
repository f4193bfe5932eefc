package dev.waymark.server;

import static dev.waymark.server.ServedThreads.OPERATOR;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.waymark.contract.PayloadJson;
import java.net.http.HttpRequest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** How the console shows replies: Markdown, hostile Markdown, and threads with thousands of messages. */
@Tag("full")
class ConsoleMarkdownTest extends ConsoleCases {
    private static final String REPLY = """
            # The bill

            Table *nine* had **two** starters.
            Paid by `card`.

            | dish | euros |
            |:-----|------:|
            | soup | 8 |

            1. Look
               - inside
            2. Pay

            - [x] done
            - [ ] open

            > A quotation

            ```sh
            rm -rf "$TMP" \u202eevil
            ```

            See [the menu](https://example.org/menu?day=1), https://example.org/ and ![logo](https://example.org/logo.png).
            """;

    /** Shows a reply, and waits until its turn is over: the page draws the reply again then. */
    private void showReply(String text) throws Exception {
        openThread(ann.start("prompted", "Go"));
        model.says(text);
        model.ends();
        see("Turn 1: ");
    }

    private List<String> textsOfReplies(String selector) throws Exception {
        return texts(".message.assistant " + selector);
    }

    @Test
    void reply_isFormatted_codeIsCopied_andRawShowsWhatTheModelWrote() throws Exception {
        showReply(REPLY);

        assertThat(textsOfReplies("h3")).containsExactly("The bill");
        assertThat(textsOfReplies("strong")).containsExactly("two");
        assertThat(textsOfReplies("td")).containsExactly("soup", "8");
        assertThat(textsOfReplies("ol > li > ul > li")).containsExactly("inside");
        assertThat(textsOfReplies("li:has([role=img])")).containsExactly("☑ done", "☐ open");
        assertThat(textsOfReplies("blockquote")).containsExactly("A quotation");
        assertThat(textsOfReplies("pre")).containsExactly("rm -rf \"$TMP\" \\u202eevil");
        assertThat(textsOfReplies("a"))
                .containsExactly(
                        "the menu (example.org/menu?day=1)",
                        "https://example.org/",
                        "picture: logo (example.org/logo.png)");
        assertThat(count(".messages img")).isZero();
        assertAccessible();

        browser.run("await context.grantPermissions(['clipboard-read', 'clipboard-write']);"
                + "await page.locator('.code').getByRole('button', { name: 'Copy' }).click();"
                + "await page.getByText('Copied').first().waitFor()");
        assertThat(browser.text("return page.evaluate(() => navigator.clipboard.readText())"))
                .isEqualTo("rm -rf \"$TMP\" \\u202eevil");
        click("Raw");
        assertThat(textsOfReplies("h3")).isEmpty();
        assertThat(browser.text("return page.locator('.message.assistant').evaluate((element) =>"
                        + " [...element.children].map((each) => each.textContent).join('\\n\\n'))"))
                .isEqualTo(REPLY.replace("\u202e", "\\u202e"));
    }

    @Test
    void hostileMarkdown_hasNoMisleadingLinksAndHidesNothing() throws Exception {
        showReply("""
                [script](javascript:alert(1)) [data](data:text/html,hi) [page](#/thread/other) [file](/v1/me)
                [login](https://example.com@evil.example/) [https://bank.example](https://evil.example/)
                <a href="https://evil.example">click</a> <button>Approve</button> <!-- hidden -->

                [ref]: https://evil.example

                <iframe src="https://evil.example"></iframe>

                # Approval needed <script>document.title=1</script>
                """);

        assertThat(textsOfReplies("a")).containsExactly("https://bank.example (evil.example)");
        assertThat(browser.text("return page.locator('.message.assistant').innerText()"))
                .contains(
                        "[script](javascript:alert(1))",
                        "[data](data:text/html,hi)",
                        "[page](#/thread/other)",
                        "[login](https://example.com@evil.example/)",
                        "<button>Approve</button>",
                        "<!-- hidden -->",
                        "[ref]: https://evil.example",
                        "<iframe src=",
                        "<script>document.title=1</script>");
        assertThat(browser.run("return [await page.title(), await page.locator('.message.assistant').locator("
                                + "'button, iframe, script, img, input').count()]")
                        .toString())
                .endsWith("Waymark\",0]");
    }

    /** Each of these takes a naive parser minutes, or overflows the stack of a recursive one. */
    @Test
    void pathologicalMarkdown_isRenderedQuickly() throws Exception {
        List<String> texts = List.of(
                "> ".repeat(5_000) + "deep",
                "- ".repeat(5_000) + "deep",
                "[".repeat(20_000),
                "*a ".repeat(15_000),
                "`".repeat(20_000) + "a",
                "![[](".repeat(10_000),
                "a|b\n".repeat(10_000),
                "<a ".repeat(10_000),
                "*".repeat(20_000) + "a",
                "x".repeat(200_000));
        for (String text : texts) {
            browser.run("await fresh()");
            long begun = System.nanoTime();
            showReply(text);
            browser.run("await page.evaluate(() => document.querySelector('.message.assistant').scrollHeight)");
            assertThat(Duration.ofNanos(System.nanoTime() - begun)).isLessThan(Duration.ofMinutes(1));
        }
    }

    @Test
    void threadOfTwoThousandMessages_scrollsSmoothly() throws Exception {
        List<Map<String, Object>> messages = new ArrayList<>();
        for (int i = 0; i < 1_000; i++) {
            messages.add(Map.of("role", "user", "content", "Question " + i));
            messages.add(
                    Map.of("role", "assistant", "content", "**Answer** " + i + "\n\n- one\n- two\n\n```\ncode\n```\n"));
        }
        messages.add(Map.of("role", "user", "content", "And now?"));
        String checkpoint = PayloadJson.MAPPER.writeValueAsString(Map.of(
                "agent",
                "assistant",
                "checkpoint",
                Map.of("messages", messages, "iterations", 1, "usage", Map.of("inputTokens", 1, "outputTokens", 1))));
        HttpCaller operator = ann.as(OPERATOR);
        HttpCaller.Answer imported = operator.send(operator.request("/v1/imports")
                .header("Content-Type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString(checkpoint)));
        assertThat(imported.status()).as(imported.body().toString()).isEqualTo(201);
        open("/#/thread/" + imported.text("thread"), OPERATOR);
        see("Answer 999");
        browser.run(
                "await page.locator('.messages').getByText('Question 0', { exact: true }).waitFor({ state: 'attached', timeout: 60000 })");

        // Processor time, since a busy machine makes every task take longer.
        String longest = browser.text("""
                await page.context().browser().startTracing(page, { categories: ['toplevel', 'devtools.timeline', 'disabled-by-default-devtools.timeline'] });
                const shown = await page.evaluate(async () => {
                  const scroller = document.querySelector('.scroller');
                  for (let i = 20; i >= 0; i--) {
                    scroller.scrollTop = scroller.scrollHeight * i / 20;
                    await new Promise((resolve) => setTimeout(resolve, 50));
                  }
                  return [scroller.scrollTop, document.querySelectorAll('.message').length];
                });
                const { traceEvents } = JSON.parse((await page.context().browser().stopTracing()).toString());
                const renderers = new Set(traceEvents.filter(({ name, args }) => name === 'thread_name' && args.name === 'CrRendererMain').map(({ tid }) => tid));
                const tasks = traceEvents.filter(({ name, tid }) => name === 'RunTask' && renderers.has(tid)).map(({ tdur }) => tdur / 1000).filter(Number.isFinite); // The last one has not ended.
                return JSON.stringify([Math.max(...tasks), tasks.length, ...shown]);
                """);

        JsonNode measured = PayloadJson.MAPPER.readTree(longest);
        assertThat(measured.get(0).doubleValue()).as(longest).isPositive().isLessThanOrEqualTo(100);
        assertThat(measured.get(1).intValue()).as(longest).isGreaterThanOrEqualTo(20);
        assertThat(measured.get(3).intValue()).as(longest).isGreaterThanOrEqualTo(2_000);
    }
}
