package dev.waymark.display;

import java.lang.Character.UnicodeScript;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Set;

/**
 * Makes text from others safe to show. Characters that are invisible, that reorder their surroundings, or that control
 * a terminal are shown as escapes such as {@code \}{@code u202e}, so that texts that look the same are the same. Line
 * breaks are removed, or kept if the caller can indent each line.
 *
 * <p>Emoji sequences and the joiners of Arabic and Indic scripts are kept.
 */
public final class SafeText {
    private static final int ZERO_WIDTH_NON_JOINER = 0x200C;
    private static final int ZERO_WIDTH_JOINER = 0x200D;
    private static final int TEXT_STYLE = 0xFE0E;
    private static final int EMOJI_STYLE = 0xFE0F;
    private static final int NOTHING = -1;

    /** The scripts in which a joiner changes the shape of neighboring letters. */
    private static final Set<UnicodeScript> JOINING_SCRIPTS = EnumSet.of(
            UnicodeScript.ARABIC,
            UnicodeScript.SYRIAC,
            UnicodeScript.NKO,
            UnicodeScript.MONGOLIAN,
            UnicodeScript.DEVANAGARI,
            UnicodeScript.BENGALI,
            UnicodeScript.GURMUKHI,
            UnicodeScript.GUJARATI,
            UnicodeScript.ORIYA,
            UnicodeScript.TAMIL,
            UnicodeScript.TELUGU,
            UnicodeScript.KANNADA,
            UnicodeScript.MALAYALAM,
            UnicodeScript.SINHALA,
            UnicodeScript.MYANMAR,
            UnicodeScript.KHMER);

    private SafeText() {}

    /** Makes a text safe on one line: line breaks, tabs and runs of spaces become one space. */
    public static String line(String text) {
        StringBuilder line = new StringBuilder(text.length());
        boolean spaceDue = false;
        int previous = NOTHING;
        for (int i = 0; i < text.length(); i += Character.charCount(text.codePointAt(i))) {
            int character = text.codePointAt(i);
            if (isSpace(character)) {
                spaceDue = !line.isEmpty();
            } else {
                line.append(spaceDue ? " " : "");
                spaceDue = false;
                append(line, text, i, previous);
            }
            previous = character;
        }
        return line.toString();
    }

    /**
     * Makes a text safe on several lines: line breaks and tabs are kept. The caller must mark each line as foreign
     * text.
     */
    public static String lines(String text) {
        String unix = text.replace("\r\n", "\n");
        StringBuilder lines = new StringBuilder(unix.length());
        int previous = NOTHING;
        for (int i = 0; i < unix.length(); i += Character.charCount(unix.codePointAt(i))) {
            int character = unix.codePointAt(i);
            if (character == '\n' || character == '\t') {
                lines.append((char) character);
            } else {
                append(lines, unix, i, previous);
            }
            previous = character;
        }
        return lines.toString();
    }

    /**
     * Makes JSON safe on one line, with letters of all languages readable: only unsafe characters stay escaped.
     *
     * @param canonical JSON in which everything outside of printable ASCII is escaped
     */
    public static String json(String canonical) {
        StringBuilder readable = new StringBuilder(canonical.length());
        for (int i = 0; i < canonical.length(); i++) {
            char c = canonical.charAt(i);
            if (c != '\\') {
                readable.append(c);
            } else if (canonical.charAt(i + 1) != 'u') {
                readable.append(c).append(canonical.charAt(++i));
            } else {
                char escaped = (char) Integer.parseInt(canonical, i + 2, i + 6, 16);
                // Control characters stay escaped, so that the result is still JSON.
                readable.append(escaped < ' ' ? canonical.substring(i, i + 6) : String.valueOf(escaped));
                i += 5;
            }
        }
        return escaped(readable.toString());
    }

    /** Escapes unsafe characters, and keeps all spaces, which are significant inside JSON strings. */
    private static String escaped(String text) {
        StringBuilder safe = new StringBuilder(text.length());
        int previous = NOTHING;
        for (int i = 0; i < text.length(); i += Character.charCount(text.codePointAt(i))) {
            append(safe, text, i, previous);
            previous = text.codePointAt(i);
        }
        return safe.toString();
    }

    private static void append(StringBuilder safe, String text, int at, int previous) {
        int character = text.codePointAt(at);
        if (!isUnsafe(character)) {
            safe.appendCodePoint(character);
            return;
        }
        int after = at + Character.charCount(character);
        int next = after < text.length() ? text.codePointAt(after) : NOTHING;
        if (belongsBetween(previous, character, next)) {
            safe.appendCodePoint(character);
        } else {
            for (char unit : Character.toChars(character)) {
                safe.append(String.format(Locale.ROOT, "\\u%04x", (int) unit));
            }
        }
    }

    private static boolean isSpace(int character) {
        return Character.isWhitespace(character) || Character.isSpaceChar(character) || character == 0x85;
    }

    private static boolean isUnsafe(int character) {
        return switch (Character.getType(character)) {
            case Character.CONTROL, Character.SURROGATE, Character.LINE_SEPARATOR, Character.PARAGRAPH_SEPARATOR ->
                true;
            case Character.FORMAT -> !isVisibleFormat(character);
            default -> isInvisible(character);
        };
    }

    /** Whether this is one of the visible format characters of Arabic, Syriac and Kaithi. */
    private static boolean isVisibleFormat(int character) {
        return (character >= 0x600 && character <= 0x605)
                || character == 0x6DD
                || character == 0x70F
                || character == 0x890
                || character == 0x891
                || character == 0x8E2
                || character == 0x110BD
                || character == 0x110CD;
    }

    /**
     * Whether this is another invisible character: a filler, a variation selector, a tag, or the blank Braille pattern.
     */
    private static boolean isInvisible(int character) {
        return character == 0x34F
                || character == 0x115F
                || character == 0x1160
                || character == 0x17B4
                || character == 0x17B5
                || (character >= 0x180B && character <= 0x180F)
                || character == 0x2065
                || character == 0x2800
                || character == 0x3164
                || (character >= 0xFE00 && character <= 0xFE0F)
                || character == 0xFFA0
                || (character >= 0xFFF0 && character <= 0xFFF8)
                || (character >= 0xE0000 && character <= 0xE0FFF);
    }

    private static boolean belongsBetween(int previous, int character, int next) {
        return switch (character) {
            case TEXT_STYLE, EMOJI_STYLE -> isPictograph(previous) || isKeycap(previous);
            case ZERO_WIDTH_JOINER ->
                (isPictograph(next) && (isPictograph(previous) || previous == EMOJI_STYLE))
                        || (isJoining(previous) && isJoining(next));
            case ZERO_WIDTH_NON_JOINER -> isJoining(previous) && isJoining(next);
            default -> false;
        };
    }

    private static boolean isPictograph(int character) {
        if (character < 0xA9) {
            return false;
        }
        int type = Character.getType(character);
        return (character >= 0x1F000 && character <= 0x1FAFF)
                || type == Character.OTHER_SYMBOL
                || (type == Character.MATH_SYMBOL || type == Character.OTHER_PUNCTUATION)
                        && character >= 0x2000
                        && character <= 0x3300;
    }

    private static boolean isKeycap(int character) {
        return (character >= '0' && character <= '9') || character == '#' || character == '*';
    }

    private static boolean isJoining(int character) {
        return character != NOTHING && JOINING_SCRIPTS.contains(UnicodeScript.of(character));
    }
}
