package dev.waymark.starter.render;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.waymark.contract.PayloadJson;
import dev.waymark.conversation.value.Json;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.Command;

/** JSON with text from others, which may be printed to a terminal. */
class OutputTest {
    /** The C1 control that begins a terminal sequence, a bidirectional override, an invisible tag, and an emoji. */
    private static final String HOSTILE = "a\u009b2Jb\u202ec\udb40\udc41d\u007f \u2028 é日 👩\u200d💻 \"\\n\r\t\u001b";

    private static final JsonNode DOCUMENT = PayloadJson.MAPPER.valueToTree(Map.of("text\u009b", List.of(HOSTILE)));

    private final StringWriter out = new StringWriter();
    private final Output output = output();

    @Command
    private static final class Nothing {}

    private Output output() {
        CommandLine command = new CommandLine(new Nothing()).setOut(new PrintWriter(out, true));
        return Output.forPeople(command.getCommandSpec());
    }

    @Test
    void document_fromOthers_isTheSameJsonWithoutControls() throws IOException {
        output.document(DOCUMENT);

        assertHarmless(DOCUMENT);
        assertThat(out.toString()).contains("\\u009b2J", "\\u202e", "\\udb40\\udc41", "\\u007f", "é日 👩\u200d💻");
    }

    @Test
    void prettyDocument_fromOthers_isTheSameJsonWithoutControls() throws IOException {
        output.pretty(DOCUMENT);

        assertHarmless(DOCUMENT);
        assertThat(out.toString().lines()).hasSizeGreaterThan(1);
    }

    @Test
    void list_fromOthers_isTheSameJsonWithoutControls() throws IOException {
        Json item = Json.of(Map.of("text\u009b", List.of(HOSTILE)));
        output.list(items -> {
            items.accept(item);
            items.accept(item);
        });

        assertHarmless(PayloadJson.MAPPER.valueToTree(List.of(item, item)));
    }

    @Test
    void list_ofNothing_isEmpty() throws IOException {
        output.list(items -> {});

        assertHarmless(PayloadJson.MAPPER.valueToTree(List.of()));
    }

    private void assertHarmless(JsonNode expected) throws IOException {
        String text = out.toString();
        assertThat(PayloadJson.MAPPER.readTree(text)).isEqualTo(expected);
        assertThat(text.chars().filter(c -> c != '\n'))
                .noneMatch(c -> Character.isISOControl(c) || c == 0x202e || c == 0x2028 || c == 0xdb40);
    }
}
