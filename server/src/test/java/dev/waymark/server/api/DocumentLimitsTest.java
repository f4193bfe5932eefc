package dev.waymark.server.api;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.waymark.contract.WireNames;
import dev.waymark.contract.message.InboundDecoder;
import dev.waymark.server.document.ApiDocument;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The limits in the OpenAPI document are those that the server checks. */
class DocumentLimitsTest {
    private static final JsonNode DOCUMENT = ApiDocument.load().json();
    private static final String SCHEMAS = "/components/schemas/";

    private static final List<String> REQUESTS = List.of(
            "StartRequest",
            "ImportRequest",
            "SayRequest",
            "AnswerRequest",
            "ApproveRequest",
            "DenyRequest",
            "SettleRequest",
            "BudgetRequest",
            "Nothing",
            "ForkRequest",
            "ResumeRequest");

    /** Fields of requests whose limits are those of messages that the workflow receives. */
    private static final Set<String> TEXTS = Set.of("message", "answer", "result");

    private static final Set<String> NOTES = Set.of("reason", "note");

    private static int limit(String field) {
        if (TEXTS.contains(field)) {
            return InboundDecoder.MAX_TEXT_BYTES;
        }
        return NOTES.contains(field) ? InboundDecoder.MAX_NOTE_LENGTH : InboundDecoder.MAX_ID_LENGTH;
    }

    @Test
    void texts_ofRequests_haveTheLimitsOfTheServer() {
        List<String> differing = new ArrayList<>();
        for (String request : REQUESTS) {
            DOCUMENT.at(SCHEMAS + request + "/properties").properties().forEach(field -> {
                JsonNode schema = field.getValue();
                boolean isText = schema.path("type").asText().equals("string");
                int most = limit(field.getKey());
                boolean hasBytes = !TEXTS.contains(field.getKey())
                        || schema.path("x-waymark-max-bytes").asInt() == most;
                if (isText && (schema.path("maxLength").asInt() != most || !hasBytes)) {
                    differing.add(request + "." + field.getKey());
                }
            });
        }

        assertThat(differing).isEmpty();
    }

    @Test
    void requests_refuseUnknownFields() {
        assertThat(REQUESTS)
                .allSatisfy(request -> assertThat(DOCUMENT.at(SCHEMAS + request + "/additionalProperties"))
                        .hasToString("false"));
    }

    @Test
    void parameters_haveTheLimitsOfTheServer() {
        JsonNode parameters = DOCUMENT.at("/components/parameters");
        JsonNode page = DOCUMENT.at("/paths/~1v1~1threads/get/parameters/0");

        assertThat(parameters.at("/Thread/schema/maxLength").asInt()).isEqualTo(WireNames.MAX_THREAD_BYTES);
        assertThat(parameters.at("/Thread/schema/x-waymark-max-bytes").asInt()).isEqualTo(WireNames.MAX_THREAD_BYTES);
        assertThat(parameters.at("/IdempotencyKey/schema/maxLength").asInt()).isEqualTo(RequestIds.LONGEST_KEY);
        assertThat(page.path("name").asText()).isEqualTo("limit");
        assertThat(page.at("/schema/maximum").asInt()).isEqualTo(ThreadReads.LARGEST_PAGE);
    }
}
