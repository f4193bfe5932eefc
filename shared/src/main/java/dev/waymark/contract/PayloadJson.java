package dev.waymark.contract;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.datatype.jdk8.Jdk8Module;
import com.fasterxml.jackson.datatype.jsr310.JavaTimeModule;
import dev.waymark.codec.EncryptionCodec;
import dev.waymark.codec.KeyProblem;
import dev.waymark.codec.ScheduleContext;
import io.temporal.api.common.v1.Payloads;
import io.temporal.client.WorkflowClient;
import io.temporal.client.WorkflowClientOptions;
import io.temporal.common.converter.DataConverter;
import io.temporal.common.converter.DataConverterException;
import io.temporal.common.converter.DefaultDataConverter;
import io.temporal.common.converter.JacksonJsonPayloadConverter;
import io.temporal.payload.codec.PayloadCodecException;
import io.temporal.payload.context.WorkflowSerializationContext;
import java.util.Optional;

/** The JSON form of payloads. Every process that accesses a thread uses this mapper and this converter. */
public final class PayloadJson {
    public static final JsonMapper MAPPER = JsonMapper.builder()
            .addModule(new Jdk8Module())
            .addModule(new JavaTimeModule())
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
            .disable(SerializationFeature.WRITE_DATES_AS_TIMESTAMPS)
            .disable(SerializationFeature.WRITE_DURATIONS_AS_TIMESTAMPS)
            .defaultPropertyInclusion(
                    JsonInclude.Value.construct(JsonInclude.Include.NON_ABSENT, JsonInclude.Include.ALWAYS))
            .build();

    private PayloadJson() {}

    /** The converter for this client's payloads of a thread, including the client's codec. */
    public static DataConverter dataConverter(WorkflowClient client, String workflowId) {
        WorkflowClientOptions options = client.getOptions();
        return options.getDataConverter()
                .withContext(new WorkflowSerializationContext(options.getNamespace(), workflowId));
    }

    /** The converter for what all threads of a schedule start with, including the client's codec. */
    public static DataConverter scheduleConverter(WorkflowClient client, String schedule) {
        WorkflowClientOptions options = client.getOptions();
        return options.getDataConverter().withContext(new ScheduleContext(options.getNamespace(), schedule));
    }

    /**
     * Decodes a worker's answer about a thread.
     *
     * @throws KeyProblem if the answer is encrypted and this client has no keys or different ones
     */
    public static <T> T answer(WorkflowClient client, String workflowId, Payloads answer, Class<T> type) {
        return read(dataConverter(client, workflowId), answer, type, "the worker's answer");
    }

    /**
     * Decodes a payload.
     *
     * @param what what is decoded, for the message of the failure
     * @throws KeyProblem if it is encrypted and this client has no keys or different ones
     */
    public static <T> T read(DataConverter converter, Payloads payloads, Class<T> type, String what) {
        try {
            return converter.fromPayloads(0, Optional.of(payloads), type, type);
        } catch (DataConverterException | PayloadCodecException e) {
            if (payloads.getPayloadsList().stream().noneMatch(EncryptionCodec::isEncrypted)) {
                throw e;
            }
            String unreadable = what + " is encrypted and cannot be read";
            throw e instanceof PayloadCodecException
                    ? new KeyProblem(unreadable + ": " + e.getMessage())
                    : KeyProblem.withoutKeys(unreadable);
        }
    }

    public static DataConverter dataConverter() {
        return DefaultDataConverter.newDefaultInstance()
                .withPayloadConverterOverrides(new JacksonJsonPayloadConverter(MAPPER));
    }
}
