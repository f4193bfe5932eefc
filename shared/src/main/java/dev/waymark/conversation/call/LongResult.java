package dev.waymark.conversation.call;

import dev.waymark.conversation.value.Json;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * The whole result of a call, of which the model was shown the beginning and the end. The call's id is the handle with
 * which it reads the rest.
 *
 * <p>Positions are numbers of code points, so that no character is split and every reader counts alike. Sizes are bytes
 * of UTF-8.
 *
 * @param bytes the size of the text
 */
public record LongResult(String callId, String text, int bytes) {
    /** The tool with which a model reads the rest. Only agents whose results are cut have it. */
    public static final String READ_TOOL = "read_result";

    /** A search finds at most this many places. */
    public static final int MOST_HITS = 20;

    /** Longer words are not searched for: a hit would not show all of them. */
    public static final int LONGEST_SEARCH = 500;

    /** The size of what surrounds the hits of a search. */
    private static final int HITS_FRAME = 200;

    private static final int HIT_FRAME = 16;

    private static final String LEFT_OUT = " are left out: ";

    public LongResult {
        Objects.requireNonNull(callId, "callId");
        Objects.requireNonNull(text, "text");
        bytes = bytes == 0 ? bytes(text) : bytes;
    }

    public static LongResult of(String callId, String text) {
        return new LongResult(callId, text, 0);
    }

    /** The result of this call among those that are kept, if it is. */
    public static Optional<LongResult> find(List<LongResult> kept, String callId) {
        return kept.stream().filter(known -> known.callId().equals(callId)).findFirst();
    }

    /** The number of characters. */
    public int length() {
        return text.codePointCount(0, text.length());
    }

    /** The text for the model: the beginning and the end, with the length and the handle between them. */
    public String cut(int most) {
        int length = length();
        int room = most - bytes(leftOut(length, length, length));
        int head = endOfPiece(0, room / 2);
        int tail = startOfPiece(text.length(), room - room / 2);
        int from = text.codePointCount(0, head);
        int to = length - text.codePointCount(tail, text.length());
        return text.substring(0, head) + leftOut(from, to, length) + text.substring(tail);
    }

    private String leftOut(int from, int to, int length) {
        return "\n[characters " + from + " to " + to + " of " + length + LEFT_OUT + reading(callId) + from + "}]\n";
    }

    private static String reading(String callId) {
        return READ_TOOL + " {\"call\": " + Json.canonical(callId) + ", \"from\": ";
    }

    /** Whether this result of a call was cut. */
    public static boolean isCut(String callId, String result) {
        return result.contains(LEFT_OUT + reading(callId));
    }

    /** Whether this result was cut, or returns the cut result of an earlier call again. */
    public static boolean isCut(String result) {
        return result.contains(LEFT_OUT + READ_TOOL);
    }

    /** The text from this character on, up to this many bytes, and where it goes on. */
    public String from(int position, int most) {
        int length = length();
        int start = text.offsetByCodePoints(0, position);
        int end = endOfPiece(start, most - bytes(goesOn(length, length, length)));
        int next = position + text.codePointCount(start, end);
        return text.substring(start, end)
                + (next < length ? goesOn(position, next, length) : "\n[characters " + position + " to the end]");
    }

    private String goesOn(int from, int next, int length) {
        return "\n[characters " + from + " to " + next + " of " + length + "; go on with " + reading(callId) + next
                + "}]";
    }

    /** Up to {@link #MOST_HITS} places of exactly these words, with what surrounds them, in up to this many bytes. */
    public String search(String words, int most) {
        int room = (most - HITS_FRAME) / MOST_HITS - HIT_FRAME;
        StringBuilder hits = new StringBuilder();
        int count = 0;
        int[] wanted = words.codePoints().toArray();
        int[] borders = borders(wanted);
        int matched = 0;
        int position = 0;
        int next = 0;
        while (next < text.length() && count <= MOST_HITS) {
            int character = text.codePointAt(next);
            next += Character.charCount(character);
            position++;
            matched = matched(wanted, borders, matched, character);
            if (matched == wanted.length) {
                matched = 0;
                count++;
                if (count <= MOST_HITS) {
                    int hit = next - words.length();
                    hits.append("\n[").append(position - wanted.length).append("] ");
                    hits.append(text, startOfPiece(hit, room / 4), endOfPiece(hit, room - room / 4));
                }
            }
        }
        String found = count > MOST_HITS
                ? "The first " + MOST_HITS + " hits of more"
                : count + (count == 1 ? " hit" : " hits");
        return found + ", with the number of the character where each begins" + (count == 0 ? "." : ":") + hits;
    }

    /**
     * For each beginning of these words, the length of the longest shorter one with which it ends. With these, a search
     * reads each character once, whatever the text is (Knuth, Morris and Pratt).
     */
    private static int[] borders(int[] words) {
        int[] borders = new int[words.length];
        for (int i = 1; i < words.length; i++) {
            borders[i] = matched(words, borders, borders[i - 1], words[i]);
        }
        return borders;
    }

    /** How many of these words the text ends with after one more character. */
    private static int matched(int[] words, int[] borders, int before, int character) {
        int matched = before;
        while (matched > 0 && words[matched] != character) {
            matched = borders[matched - 1];
        }
        return words[matched] == character ? matched + 1 : 0;
    }

    private int endOfPiece(int start, int most) {
        int end = start;
        int room = most;
        while (end < text.length()) {
            int character = text.codePointAt(end);
            room -= bytes(character);
            if (room < 0) {
                break;
            }
            end += Character.charCount(character);
        }
        return end;
    }

    private int startOfPiece(int end, int most) {
        int start = end;
        int room = most;
        while (start > 0) {
            int character = text.codePointBefore(start);
            room -= bytes(character);
            if (room < 0) {
                break;
            }
            start -= Character.charCount(character);
        }
        return start;
    }

    /** The number of bytes of a text in UTF-8. */
    public static int bytes(String text) {
        return text.codePoints().map(LongResult::bytes).sum();
    }

    private static int bytes(int character) {
        if (character < 0x80) {
            return 1;
        }
        if (character < 0x800) {
            return 2;
        }
        return Character.isSupplementaryCodePoint(character) ? 4 : 3;
    }
}
