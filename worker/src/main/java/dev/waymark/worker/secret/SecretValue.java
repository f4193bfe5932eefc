package dev.waymark.worker.secret;

import java.nio.charset.StandardCharsets;
import java.util.Set;
import java.util.TreeSet;

/**
 * A secret and its placeholder. The secret is found literally, percent-encoded, or with any of its characters escaped
 * in any way that JSON allows, such as a backslash before a slash or four hexadecimal digits in either case. Each of
 * these forms is also found if it is escaped once more.
 */
final class SecretValue {
    /** The text ends before it is clear whether the secret is there. */
    static final int UNDECIDED = -1;

    static final int ABSENT = 0;

    /** Nested escaping doubles backslashes. Limits the work on texts that consist of backslashes. */
    private static final int MOST_BACKSLASHES = 16;

    private static final int MOST_PERCENT_LEVELS = 4;
    private static final String ESCAPED = "\"\\/'\b\f\n\r\t";
    private static final String LETTERS = "\"\\/'bfnrt";

    private final String text;
    private final String name;
    private final int[] codePoints;

    SecretValue(String text, String name) {
        this.text = text;
        this.name = name;
        this.codePoints = text.codePoints().toArray();
    }

    String text() {
        return text;
    }

    String name() {
        return name;
    }

    /** The length of the secret at this position, {@link #ABSENT}, or {@link #UNDECIDED}. */
    int lengthAt(String in, int from) {
        char first = in.charAt(from);
        if (first != text.charAt(0) && first != '\\' && first != '%') {
            return ABSENT;
        }
        Search search = new Search(in);
        TreeSet<Integer> places = new TreeSet<>(Set.of(from));
        for (int codePoint : codePoints) {
            TreeSet<Integer> ends = new TreeSet<>();
            for (int place : places) {
                search.ends(place, codePoint, ends);
            }
            if (ends.isEmpty()) {
                return search.atEnd ? UNDECIDED : ABSENT;
            }
            places = ends;
        }
        return places.last() - from;
    }

    /** Finds where the possible spellings of one character end. */
    private static final class Search {
        private final String in;
        private boolean atEnd;

        Search(String in) {
            this.in = in;
        }

        void ends(int place, int codePoint, Set<Integer> ends) {
            String plain = Character.toString(codePoint);
            take(place, plain, ends);
            if (codePoint == ' ') {
                take(place, "+", ends);
            }
            if (isAt(place, '\\')) {
                escaped(place, codePoint, plain, ends);
            }
            if (isAt(place, '%')) {
                percentEncoded(place, plain.getBytes(StandardCharsets.UTF_8), 0, ends);
            }
        }

        private void escaped(int place, int codePoint, String plain, Set<Integer> ends) {
            int letter = place;
            while (letter - place < MOST_BACKSLASHES && isAt(letter, '\\')) {
                letter++;
                if (codePoint == '\\') {
                    ends.add(letter);
                }
            }
            int known = ESCAPED.indexOf(codePoint);
            if (known >= 0) {
                take(letter, LETTERS.substring(known, known + 1), ends);
            }
            int end = unit(letter, plain.charAt(0));
            if (plain.length() == 2 && end > 0) {
                int second = end;
                while (second - end < MOST_BACKSLASHES && isAt(second, '\\')) {
                    second++;
                }
                end = second == end ? 0 : unit(second, plain.charAt(1));
            }
            if (end > 0) {
                ends.add(end);
            }
        }

        /** The end of {@code uXXXX}, or 0. */
        private int unit(int place, char expected) {
            if (!isAt(place, 'u')) {
                return 0;
            }
            return hex(place + 1, 4, expected);
        }

        private void percentEncoded(int place, byte[] bytes, int index, Set<Integer> ends) {
            if (index == bytes.length) {
                ends.add(place);
                return;
            }
            if (!isAt(place, '%')) {
                return;
            }
            int digits = place + 1;
            for (int level = 0; level < MOST_PERCENT_LEVELS; level++) {
                int end = hex(digits, 2, bytes[index] & 0xff);
                if (end > 0) {
                    percentEncoded(end, bytes, index + 1, ends);
                }
                if (!isAt(digits, '2') || !isAt(digits + 1, '5')) {
                    return;
                }
                digits += 2;
            }
        }

        /** The end of a hexadecimal number with this many digits and this value, or 0. */
        private int hex(int place, int digits, int expected) {
            for (int i = 0; i < digits; i++) {
                if (place + i >= in.length()) {
                    atEnd = true;
                    return 0;
                }
                int wanted = expected >> (4 * (digits - 1 - i)) & 0xf;
                if (Character.digit(in.charAt(place + i), 16) != wanted) {
                    return 0;
                }
            }
            return place + digits;
        }

        private void take(int place, String expected, Set<Integer> ends) {
            for (int i = 0; i < expected.length(); i++) {
                if (!isAt(place + i, expected.charAt(i))) {
                    return;
                }
            }
            ends.add(place + expected.length());
        }

        private boolean isAt(int place, char expected) {
            if (place >= in.length()) {
                atEnd = true;
                return false;
            }
            return in.charAt(place) == expected;
        }
    }
}
