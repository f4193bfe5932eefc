package dev.waymark.bench;

import java.util.Random;

/** Meaningless text of printable ASCII, deterministic for a seed. */
public final class FillerText {
    private FillerText() {}

    public static String of(int bytes, int seed) {
        Random random = new Random(seed);
        StringBuilder text = new StringBuilder(bytes + 10);
        while (text.length() < bytes) {
            for (int letters = 2 + random.nextInt(8); letters > 0; letters--) {
                text.append((char) ('a' + random.nextInt(26)));
            }
            text.append(' ');
        }
        text.setLength(bytes);
        return text.toString();
    }
}
