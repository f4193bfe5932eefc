package dev.waymark.conversation.call;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.conversation.Conversation;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LongResultTest {
    private static final int MOST = 4 * 1024;
    private static final Pattern LEFT_OUT = Pattern.compile(
            "\n\\[characters (\\d+) to (\\d+) of (\\d+) are left out: read_result \\{\"call\": \"tu_1\", \"from\": \\1}]\n");
    private static final Pattern GOES_ON =
            Pattern.compile("\n\\[characters \\d+ to (\\d+) of \\d+; go on with read_result .*]$");

    private static String points(String text, int from, int to) {
        return text.substring(text.offsetByCodePoints(0, from), text.offsetByCodePoints(0, to));
    }

    private static int bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8).length;
    }

    /** Texts in which every place of the cut falls on each unit of a pair and of a sequence once. */
    @ParameterizedTest
    @ValueSource(strings = {"😀", "a😀", "ab😀", "abc😀", "é漢😀", "漢", "é", "ab", "\ud800", "\udc00\ud800"})
    void cut_splitsNoCharacter_andItsNumbersAreRight(String unit) {
        for (int shift = 0; shift < 9; shift++) {
            String text = "x".repeat(shift) + unit.repeat(9_000 / unit.length());
            LongResult whole = LongResult.of("tu_1", text);

            String cut = whole.cut(MOST);

            Matcher note = LEFT_OUT.matcher(cut);
            assertThat(note.find()).isTrue();
            int from = Integer.parseInt(note.group(1));
            int to = Integer.parseInt(note.group(2));
            int length = text.codePointCount(0, text.length());
            assertThat(note.group(3)).isEqualTo(String.valueOf(length));
            assertThat(cut.substring(0, note.start())).isEqualTo(points(text, 0, from));
            assertThat(cut.substring(note.end())).isEqualTo(points(text, to, length));
            assertThat(LongResult.bytes(cut)).isBetween(MOST - 30, MOST);
            assertThat(LongResult.isCut("tu_1", cut)).isTrue();
            assertThat(LongResult.isCut("tu_2", cut)).isFalse();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"😀", "a😀", "é漢😀", "ab"})
    void parts_putTogether_areTheText(String unit) {
        LongResult whole = LongResult.of("tu_1", "x" + unit.repeat(9_000 / unit.length()));
        StringBuilder read = new StringBuilder();
        int position = 0;
        while (true) {
            String part = whole.from(position, MOST);
            assertThat(bytes(part)).isLessThanOrEqualTo(MOST);
            Matcher more = GOES_ON.matcher(part);
            if (!more.find()) {
                read.append(part, 0, part.lastIndexOf("\n[characters " + position + " to the end]"));
                break;
            }
            read.append(part, 0, more.start());
            position = Integer.parseInt(more.group(1));
        }

        assertThat(read.toString()).isEqualTo(whole.text());
    }

    @Test
    void search_isLiteral_andNamesCharacters() {
        LongResult whole = LongResult.of("tu_1", "😀 a.c abc A.C a.c");

        assertThat(whole.search("a.c", MOST))
                .isEqualTo("2 hits, with the number of the character where each begins:\n"
                        + "[2] 😀 a.c abc A.C a.c\n[14] 😀 a.c abc A.C a.c");
        assertThat(whole.search("b", MOST)).startsWith("1 hit, ");
        assertThat(whole.search(".*", MOST)).isEqualTo("0 hits, with the number of the character where each begins.");
    }

    @Test
    void search_findsAtMost20_andFitsIntoWhatIsShown() {
        for (int most : new int[] {MOST, 16 * 1024, 256 * 1024}) {
            String hits = LongResult.of("tu_1", "😀needle".repeat(30_000)).search("needle", most);

            assertThat(hits).startsWith("The first 20 hits of more, ").contains("\n[134] ");
            assertThat(Arrays.stream(hits.split("\n")).filter(line -> line.startsWith("[")))
                    .hasSize(20);
            assertThat(bytes(hits)).isLessThanOrEqualTo(most);
        }
        assertThat(LongResult.of("tu_1", "needle".repeat(20)).search("needle", MOST))
                .startsWith("20 hits, ");
    }

    @Test
    void search_findsWhatStartsWithinAnUnfinishedMatch_andNothingTwice() {
        assertThat(LongResult.of("tu_1", "ababac aabaab").search("abac", MOST)).contains("1 hit, ", "\n[2] ");
        assertThat(LongResult.of("tu_1", "aabaabaaab").search("aabaaab", MOST)).contains("1 hit, ", "\n[3] ");
        assertThat(LongResult.of("tu_1", "aaaaa").search("aa", MOST))
                .contains("2 hits, ", "\n[0] ", "\n[2] ")
                .doesNotContain("\n[1] ");
    }

    @Test
    void search_findsNoHalfOfACharacter() {
        assertThat(LongResult.of("tu_1", "😀 \ude00").search("\ude00", MOST)).contains("1 hit, ", "\n[2] ");
    }

    /** A reply may have 500 searches, which one workflow task answers. After five seconds, it would be a deadlock. */
    @Test
    void search_thatNearlyMatchesEverywhere_endsSoon() {
        LongResult whole = LongResult.of("tu_1", "a".repeat(256 * 1024));
        String words = "a".repeat(LongResult.LONGEST_SEARCH - 1) + "b";
        // Processor time, since other tests use the machine.
        ThreadMXBean clock = ManagementFactory.getThreadMXBean();
        long began = clock.getCurrentThreadCpuTime();

        for (int i = 0; i < Conversation.MAX_CALLS; i++) {
            assertThat(whole.search(words, MOST)).startsWith("0 hits");
        }

        assertThat(clock.getCurrentThreadCpuTime() - began).isLessThan(5_000_000_000L);
    }
}
