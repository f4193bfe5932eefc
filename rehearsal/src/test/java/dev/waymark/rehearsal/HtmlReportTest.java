package dev.waymark.rehearsal;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.conversation.value.Spent;
import dev.waymark.conversation.value.Usage;
import dev.waymark.conversation.value.Usd;
import dev.waymark.rehearsal.ReplyChange.Cause;
import dev.waymark.rehearsal.ReplyChange.Kind;
import java.math.BigDecimal;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class HtmlReportTest {
    private static final ReplyChange AMOUNT =
            new ReplyChange(Kind.ARGUMENTS, "pay", true, List.of("amount"), "", Cause.NONE);
    private static final ReplyChange ASKED = new ReplyChange(Kind.ASKED, "pay", true, List.of(), "allow", Cause.EITHER);
    private static final ReplyChange TEXT = ReplyChange.of(Kind.TEXT);

    private static RehearsalReport.ShownReply pay(String amount, String then) {
        return new RehearsalReport.ShownReply(
                "",
                List.of(new RehearsalReport.ShownCall(
                        "pay", "{\"amount\": " + amount + ", \"to\": \"Ann\"}", then, Optional.empty())),
                "tool_use");
    }

    private static RehearsalReport.ShownReply text(String text) {
        return new RehearsalReport.ShownReply(text, List.of(), "end_turn");
    }

    private static RehearsalReport.Shown shown(
            String thread, RehearsalReport.ShownReply before, RehearsalReport.ShownReply now, ReplyChange... changes) {
        return new RehearsalReport.Shown(
                thread,
                "run-of-" + thread + "/e9",
                "clerk",
                1,
                0,
                1,
                "find returned: due",
                before,
                Optional.of(now),
                List.of(),
                Optional.empty(),
                List.of(changes),
                "Pay invoice " + thread);
    }

    private static String page(
            RehearsalReport.Totals before,
            RehearsalReport.Totals now,
            List<RehearsalReport.Changes> changes,
            RehearsalReport.Shown... shown) {
        RehearsalReport.OfCandidate candidate = new RehearsalReport.OfCandidate(
                "new",
                List.of("some:model"),
                9,
                9,
                9 - shown.length,
                0,
                shown.length,
                0,
                0,
                0,
                before,
                now,
                List.of(shown),
                List.of(),
                changes,
                List.of("instructions", "approval rules of `pay`"),
                List.of("look_up"));
        RehearsalReport report = new RehearsalReport(
                RehearsalReport.FORMAT, 9, 9, List.of(candidate), List.of(), Optional.empty(), Optional.empty(), "");
        return HtmlReport.of(RolloutReport.of(Optional.empty(), report, List.of(), false));
    }

    private static String page(List<RehearsalReport.Changes> changes, RehearsalReport.Shown... shown) {
        return page(RehearsalReport.Totals.NOTHING, RehearsalReport.Totals.NOTHING, changes, shown);
    }

    @Test
    void changes_areSentencesWithLinksSideEffectsFirst() {
        String page = page(
                List.of(
                        new RehearsalReport.Changes(AMOUNT, 2, 2, Map.of()),
                        new RehearsalReport.Changes(ASKED.anyCause(), 2, 2, Map.of(Cause.EITHER, 2)),
                        new RehearsalReport.Changes(TEXT, 1, 7, Map.of())),
                shown("hello", text("Hello."), text("Hi."), TEXT),
                shown("one", pay("15", "allow"), pay("150", "ask"), AMOUNT, ASKED),
                shown("two", pay("20", "allow"), pay("200", "ask"), AMOUNT, ASKED));

        assertThat(page)
                .containsSubsequence(
                        "Nothing was run.",
                        "<h2>Tried: the agents in <code>new</code>, with the model some:model</h2>",
                        "<p>Different from the recorded agents: instructions, approval rules of <code>pay</code></p>",
                        "<p class=\"failed\">DANGER: declared safe to retry, and was not: <code>look_up</code>. Calls",
                        "3 of 9 replies would change; 6 stay the same</p>",
                        "<p>One reply can differ in several ways:</p>",
                        "<h3>Side effects: what agents do outside of the conversation</h3>",
                        "<p><code>pay</code> would be called with another <code>amount</code> in all 2 replies"
                                + " that call <code>pay</code> (for example amount 15 → 150): see <a href=\"#c1\">1</a></p>",
                        "<p><code>pay</code> would wait until a person approves it in all 2 replies that"
                                + " call <code>pay</code> (before, it ran without asking), because of its new arguments or the new rules, either alone is enough: see <a href=\"#c1\">1</a></p>",
                        "<h3>Words only</h3>",
                        "<p>The answer would say something else in 1 of the 7 replies that answer: see <a href=\"#c2\">2</a></p>",
                        "“A person” is whoever",
                        "<article id=\"c1\">",
                        "<h3>1. one: “Pay invoice one”</h3>",
                        "amount: <mark>15</mark>\n  to: &quot;Ann&quot;\n→ <mark>runs without asking</mark></pre>",
                        "amount: <mark>150</mark>\n  to: &quot;Ann&quot;\n→ <mark>waits until a person approves it</mark>",
                        "<summary>two: “Pay invoice two” (amount 20 → 200)</summary>",
                        "<article id=\"c2\">",
                        "<pre><mark>Hello</mark>.</pre>",
                        "<pre><mark>Hi</mark>.</pre>",
                        "After a reply that changes, the later ones may come about in another way, or not at all.")
                .doesNotContain("<article id=\"c3\">", "Tokens", "USD", "econds");
    }

    @Test
    void spending_isShownIfItWasMeasured() {
        RehearsalReport.Totals measured = new RehearsalReport.Totals(
                new Spent(new Usage(1_000, 234), Optional.of(Usd.of(new BigDecimal("0.5")))), 9_000);
        RehearsalReport.Totals unpriced = new RehearsalReport.Totals(new Spent(new Usage(900, 0), Optional.empty()), 0);

        assertThat(page(measured, measured, List.of()))
                .contains(
                        "<p>Tokens: 1,234 before, 1,234 with the change; USD without caching: 0.5 before, 0.5 with the change;"
                                + " seconds per reply: 1.0 before, 1.0 with the change</p>");
        assertThat(page(measured, unpriced, List.of())).contains("<p>Tokens: 1,234 before, 900 with the change</p>");
    }

    /** The names of tools and of arguments come from a model, too. */
    @Test
    void hostileTexts_areEscapedEverywhere() {
        String evil = "`<script>alert('x')</script>`\u0000\u202e</pre><img src=\"http://x\">$1";
        RehearsalReport.ShownReply before = new RehearsalReport.ShownReply(
                evil, List.of(new RehearsalReport.ShownCall(evil, evil, evil, Optional.of(evil))), evil);
        RehearsalReport.ShownReply now = new RehearsalReport.ShownReply(
                evil + evil,
                List.of(new RehearsalReport.ShownCall(evil, "{\"<b>\": \"<i>\"}", "ask", Optional.of(evil))),
                evil + evil);
        ReplyChange change = new ReplyChange(Kind.ARGUMENTS, evil, true, List.of(evil), evil, Cause.RULES);

        String page = page(
                List.of(new RehearsalReport.Changes(change, 2, 2, Map.of())),
                shown(evil, before, now, change),
                shown(evil + evil, before, now, change));

        assertThat(page)
                .doesNotContain("<script", "<img", "<b>", "<i>", "\u0000")
                .contains("&lt;script&gt;");
        assertThat(page.split("</pre>", -1)).hasSameSizeAs(page.split("<pre>", -1));
    }
}
