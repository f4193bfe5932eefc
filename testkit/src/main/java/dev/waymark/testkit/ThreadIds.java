package dev.waymark.testkit;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** Distinct thread ids that some file system, database or program may confuse or reject. */
final class ThreadIds {
    private ThreadIds() {}

    static List<String> awkward() {
        List<String> ids = new ArrayList<>(List.of(
                "",
                " ",
                "  ",
                ".",
                "..",
                "../escaped",
                "/",
                "//",
                "/etc/passwd",
                "a/b",
                "a:b",
                "a\\b",
                "a_b",
                "a%2fb",
                "a%2Fb",
                "a b",
                "a+b",
                "a",
                "A",
                "team/a:42",
                "Team/a:42",
                "a.json",
                "a.JSON",
                "a.",
                "a ",
                "~",
                "%",
                "%%",
                "%61",
                "\u0000",
                "a\u0000",
                "a\u0000b",
                "\n",
                "'; DROP TABLE checkpoints; --",
                "a_",
                "a*",
                "?namespace=other",
                "default/checkpoints/a",
                "checkpoints/",
                // Composed and decomposed forms, which look the same.
                "\u00e9",
                "e\u0301",
                "\u212b",
                "\u00c5",
                "A\u030a",
                // Equal when case is ignored, with different lengths.
                "straße",
                "strasse",
                "STRASSE",
                "ı",
                "i",
                "I",
                "İ",
                "\ufeff",
                "\ufeffa",
                "\uffff",
                "\ud83d\ude80",
                "日本"));
        for (String device : List.of("con", "prn", "aux", "nul", "com1", "lpt9", "conin$", "com¹")) {
            ids.addAll(List.of(device, device.toUpperCase(java.util.Locale.ROOT), device + ".txt", device + ".json"));
        }
        // Around the length limit of file names, and 4 KB of characters of one to four bytes, differing only at the
        // end.
        for (int length : new int[] {199, 200, 201, 250, 255, 256}) {
            ids.add("x".repeat(length));
        }
        ids.add("~" + "0".repeat(64));
        Stream.of("x", "X", "/", "é", "日", "\ud83d\ude80", "\u0000")
                .map(letter ->
                        letter.repeat(4096 / letter.getBytes(java.nio.charset.StandardCharsets.UTF_8).length - 1))
                .forEach(begin -> ids.addAll(List.of(begin + "1", begin + "2")));
        return ids;
    }
}
