package dev.waymark.tool;

/**
 * How often a regular expression may branch before it reads the next character. Matching {@code (|)(|)(|)(?!)} takes
 * eight attempts without reading a character, and each further group doubles their number.
 *
 * <p>An upper bound for Java's patterns. It is only exact enough to distinguish ordinary patterns from endless ones.
 */
final class PatternBranching {
    /** The upper limit of all counts. */
    private static final int MOST = 1_000_000_000;

    private final String pattern;
    private int at;

    private PatternBranching(String pattern) {
        this.pattern = pattern;
    }

    /**
     * The numbers of attempts that a match may make without reading a character.
     *
     * @param beforeFirst attempts before the first character
     * @param afterAny the most attempts between a character and the next
     */
    record Attempts(int beforeFirst, int afterAny) {}

    /** @param pattern a valid pattern */
    static Attempts of(String pattern) {
        PatternBranching parser = new PatternBranching(pattern);
        Part whole = Part.EMPTY;
        while (parser.at < pattern.length()) {
            whole = whole.then(parser.alternatives());
            parser.at++; // Comments are parsed as patterns too, so a closing parenthesis may be unmatched.
        }
        return new Attempts((int) whole.attempts, (int) whole.attemptsAfter);
    }

    /**
     * The counts for a part of a pattern.
     *
     * @param passes the number of ways through this part that read no character
     * @param attempts the number of attempts to try all passes
     * @param exits the number of ways from a character in this part to the end of the part
     * @param attemptsAfter the number of attempts to try all exits
     */
    private record Part(long passes, long attempts, long exits, long attemptsAfter) {
        static final Part EMPTY = new Part(1, 0, 0, 0);
        static final Part CHARACTER = new Part(0, 1, 1, 0);
        /** Something that may read characters or none, such as an anchor, a quotation or a back reference. */
        static final Part ASSERTION = new Part(1, 1, 1, 0);

        Part {
            passes = Math.min(passes, MOST);
            attempts = Math.min(attempts, MOST);
            exits = Math.min(exits, MOST);
            attemptsAfter = Math.min(attemptsAfter, MOST);
        }

        Part then(Part next) {
            return new Part(
                    passes * next.passes,
                    attempts + passes * next.attempts,
                    Math.max(exits * next.passes, next.exits),
                    Math.max(attemptsAfter + exits * next.attempts, next.attemptsAfter));
        }

        Part or(Part other) {
            return new Part(
                    passes + other.passes,
                    attempts + other.attempts + 1,
                    Math.max(exits, other.exits),
                    Math.max(attemptsAfter, other.attemptsAfter));
        }

        /** Java's loops end after a repetition that read no character. */
        Part repeated() {
            Part once = or(EMPTY);
            return new Part(once.passes, once.attempts, exits * once.passes, attemptsAfter + exits * once.attempts);
        }

        Part times(int count) {
            if (count == 0) {
                return EMPTY;
            }
            Part half = times(count / 2);
            Part even = half.then(half);
            return count % 2 == 0 ? even : even.then(this);
        }

        /** A lookahead or a lookbehind, which consumes nothing. */
        Part ahead() {
            return new Part(1, attempts + 1, 1, attemptsAfter);
        }
    }

    /** Parses alternatives up to the end of the group. */
    private Part alternatives() {
        Part all = sequence();
        while (isAt('|')) {
            at++;
            all = all.or(sequence());
        }
        return all;
    }

    private Part sequence() {
        Part all = Part.EMPTY;
        while (at < pattern.length() && !isAt('|') && !isAt(')')) {
            all = all.then(quantified(atom()));
        }
        return all;
    }

    private boolean isAt(char c) {
        return at < pattern.length() && pattern.charAt(at) == c;
    }

    private Part atom() {
        char c = pattern.charAt(at++);
        return switch (c) {
            case '(' -> group();
            case '[' -> {
                skipClass();
                yield Part.CHARACTER;
            }
            case '\\' -> escape();
            case '^', '$' -> Part.ASSERTION;
            default -> Part.CHARACTER;
        };
    }

    private Part group() {
        boolean looks = false;
        if (isAt('?')) {
            at++;
            looks = isAt('=') || isAt('!') || pattern.startsWith("<=", at) || pattern.startsWith("<!", at);
            skipGroupHead();
        }
        Part inside = alternatives();
        at++;
        return looks ? inside.ahead() : inside;
    }

    /** Skips what follows the question mark after an opening parenthesis: a name, flags, or the kind of the group. */
    private void skipGroupHead() {
        boolean isName = isAt('<') && !pattern.startsWith("<=", at) && !pattern.startsWith("<!", at);
        String last = isName ? ">" : pattern.startsWith("<", at) ? "=!" : ":=!>";
        while (at < pattern.length() && !isAt(')')) {
            if (last.indexOf(pattern.charAt(at++)) >= 0) {
                return;
            }
        }
    }

    private void skipClass() {
        if (isAt('^')) {
            at++;
        }
        int start = at;
        for (int depth = 1; at < pattern.length() && depth > 0; at++) {
            char c = pattern.charAt(at);
            if (c == '\\') {
                at++;
            } else if (c == '[') {
                depth++;
            } else if (c == ']' && at > start) {
                depth--;
            }
        }
    }

    private Part escape() {
        char c = at < pattern.length() ? pattern.charAt(at++) : '\\';
        if (c == 'Q') {
            int end = pattern.indexOf("\\E", at);
            at = end < 0 ? pattern.length() : end + 2;
            return Part.ASSERTION;
        }
        if (isAt('{') && "pPxNkb".indexOf(c) >= 0 || isAt('<') && c == 'k') {
            char close = isAt('{') ? '}' : '>';
            int end = pattern.indexOf(close, at);
            at = end < 0 ? pattern.length() : end + 1;
        }
        boolean isAssertion = "bBAGZzk123456789".indexOf(c) >= 0;
        return isAssertion ? Part.ASSERTION : Part.CHARACTER;
    }

    private Part quantified(Part atom) {
        Part part = atom;
        while (isAt('*') || isAt('+') || isAt('?') || isAt('{')) {
            char c = pattern.charAt(at++);
            part = switch (c) {
                case '*' -> part.repeated();
                case '+' -> part.then(part.repeated());
                case '?' -> part.or(Part.EMPTY);
                default -> counted(part);
            };
            if (isAt('?') || isAt('+')) {
                at++;
            }
        }
        return part;
    }

    private Part counted(Part part) {
        int end = pattern.indexOf('}', at);
        String[] bounds =
                pattern.substring(at, end < 0 ? pattern.length() : end).split(",", -1);
        at = end < 0 ? pattern.length() : end + 1;
        Part least = part.times(number(bounds[0]));
        return bounds.length == 1 ? least : least.then(part.repeated());
    }

    private static int number(String digits) {
        try {
            return Integer.parseInt(digits.strip());
        } catch (NumberFormatException e) {
            return 1; // In a comment.
        }
    }
}
