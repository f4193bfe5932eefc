package dev.waymark.starter.options;

import com.fasterxml.jackson.core.JsonProcessingException;
import dev.waymark.client.connection.ValueText;
import dev.waymark.client.failure.WaymarkException;
import dev.waymark.contract.PayloadJson;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.ProblemType;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/** Reads JSON that a user wrote. */
public final class JsonFiles {
    private JsonFiles() {}

    /** @param option the option that has this value, for the error message */
    public static Json parse(String option, String text) {
        try {
            return Json.of(PayloadJson.MAPPER.readValue(text, Object.class));
        } catch (JsonProcessingException | IllegalArgumentException e) {
            throw new WaymarkException.Refused(
                    ProblemType.BAD_INPUT,
                    option + " is not JSON: " + ValueText.quoted(text) + " (" + reason(e) + ")",
                    "Quote it for the shell, as in " + option + " '{\"tenant\": \"acme\"}'");
        }
    }

    /** @param problem the type of the failure that is thrown if the file is not JSON */
    public static Json read(Path file, String problem) {
        byte[] bytes;
        try {
            bytes = Files.readAllBytes(file);
        } catch (NoSuchFileException e) {
            throw new WaymarkException.NotFound("no such file: " + file, "");
        } catch (IOException e) {
            throw new WaymarkException.Refused(
                    ProblemType.BAD_INPUT,
                    "the file can't be read: " + file + " (" + e.getClass().getSimpleName() + ")",
                    "");
        }
        try {
            return Json.of(PayloadJson.MAPPER.readValue(bytes, Object.class));
        } catch (JsonProcessingException e) {
            String place = e.getLocation() == null ? "" : ":" + e.getLocation().getLineNr();
            throw new WaymarkException.Refused(problem, "the file is not JSON: " + file + place + ": " + reason(e), "");
        } catch (IllegalArgumentException e) {
            throw new WaymarkException.Refused(problem, "the file can't be kept: " + file + ": " + e.getMessage(), "");
        } catch (IOException e) {
            throw new IllegalStateException("reading from memory failed", e);
        }
    }

    /** Returns the parser's message without details that only concern programmers, such as names of its settings. */
    private static String reason(Exception e) {
        String message = e instanceof JsonProcessingException json ? json.getOriginalMessage() : e.getMessage();
        return String.valueOf(message)
                .replaceFirst(" \\((start marker at|bound as) .*", "")
                .replaceFirst(", from `[^`]*`", "");
    }
}
