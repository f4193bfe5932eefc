package dev.waymark.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.waymark.contract.PayloadJson;
import dev.waymark.display.SafeText;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Compares the console's script with {@link SafeText}: the console must show text from others exactly as the command
 * line does.
 */
@Tag("full")
class SafeTextScriptTest {
    private static final String[] PIECES = {
        "a",
        "7",
        "#",
        " ",
        "\n",
        "\t",
        "\r\n",
        "\r",
        "\u202e",
        "\u2066",
        "\u2069",
        "\u200b",
        "\u200c",
        "\u200d",
        "\ufe0e",
        "\ufe0f",
        "\u20e3",
        "❤",
        "⚠",
        "👩",
        "👧",
        "🏽",
        "ی",
        "م",
        "क",
        "्",
        "ष",
        "\u001b",
        "\u0007",
        "\u00ad",
        "\ufeff",
        "\ud800",
        "\udc00",
        "\udb40\udc41",
        "\u2028",
        "\u0085",
        "\u3164",
        "é",
        "日",
        "ש"
    };

    private static Path scripts;

    @BeforeAll
    static void copyScripts() throws Exception {
        assumeTrue(hasNode(), "no node command");
        scripts = NodeClients.directory("console");
        Path sources = Path.of("src/main/resources/dev/waymark/server/console");
        Files.writeString(scripts.resolve("package.json"), "{\"type\":\"module\"}");
        Files.copy(
                sources.resolve("safe-text.js"), scripts.resolve("safe-text.js"), StandardCopyOption.REPLACE_EXISTING);
    }

    private static boolean hasNode() throws InterruptedException {
        try {
            return new ProcessBuilder("node", "--version").start().waitFor(20, TimeUnit.SECONDS);
        } catch (IOException e) {
            return false;
        }
    }

    private static List<String> shown(List<String> texts) throws Exception {
        Path file = scripts.resolve("texts.json");
        Files.writeString(
                file,
                PayloadJson.MAPPER.writeValueAsString(texts.stream()
                        .map(text -> text.chars().mapToObj(Integer::toString).toList())
                        .toList()));
        JsonNode answer = NodeClients.run("safe-text.mjs", file.toString());
        List<String> shown = new ArrayList<>();
        answer.forEach(units -> {
            StringBuilder text = new StringBuilder();
            units.forEach(unit -> text.append((char) unit.intValue()));
            shown.add(text.toString());
        });
        return shown;
    }

    @Test
    void randomTexts_areShownAlike() throws Exception {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        List<String> texts = Stream.generate(() -> random.ints(1 + random.nextInt(8), 0, PIECES.length)
                        .mapToObj(i -> PIECES[i])
                        .reduce("", String::concat))
                .limit(20_000)
                .toList();

        assertThat(shown(texts))
                .as("seed " + seed)
                .isEqualTo(texts.stream().map(SafeText::lines).toList());
    }

    /**
     * Compares only characters in this JDK's version of Unicode, because browsers may know later ones, and skips large
     * blocks of similar characters.
     */
    @Test
    void everyCharacter_isShownAlike() throws Exception {
        List<String> texts = Stream.iterate(0, character -> character + 1)
                .limit(Character.MAX_CODE_POINT + 1)
                .filter(Character::isDefined)
                .filter(character -> !(character >= 0x3400 && character <= 0x9FFF)
                        && !(character >= 0xAC00 && character <= 0xD7A3)
                        && !(character >= 0xE000 && character <= 0xF8FF)
                        && !(character >= 0x20000 && character <= 0x3FFFF)
                        && character < 0xF0000)
                .map(character -> "a" + Character.toString(character) + "b")
                .toList();

        assertThat(shown(texts)).isEqualTo(texts.stream().map(SafeText::lines).toList());
    }
}
