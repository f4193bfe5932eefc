package dev.waymark.worker.model.http;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.datatype.jdk8.Jdk8Module;
import dev.waymark.worker.outbound.SentOnce;
import okhttp3.RequestBody;

/** JSON for exchange with providers: unknown fields are ignored, and nulls in a call's arguments are kept. */
public final class ProviderJson {
    /** Limits memory: a small parsed value takes many times the size of its text. */
    private static final StreamReadConstraints LIMITS =
            StreamReadConstraints.builder().maxTokenCount(200_000).build();

    public static final JsonMapper MAPPER = JsonMapper.builder(
                    JsonFactory.builder().streamReadConstraints(LIMITS).build())
            .addModule(new Jdk8Module())
            .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
            .build();

    private ProviderJson() {}

    /** Parses the data of a stream event, which must be a JSON object. */
    public static JsonNode event(String data) throws JsonProcessingException {
        JsonNode tree = MAPPER.readTree(data);
        if (!tree.isObject()) {
            throw new IllegalArgumentException("the data of a stream event is not a JSON object");
        }
        return tree;
    }

    /** The body of a request, which is sent once. */
    public static RequestBody body(Object request) {
        try {
            return SentOnce.body(SentOnce.JSON, MAPPER.writeValueAsBytes(request));
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException("the request can't be encoded as JSON", e);
        }
    }
}
