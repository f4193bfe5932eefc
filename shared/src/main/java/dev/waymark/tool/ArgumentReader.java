package dev.waymark.tool;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.databind.DeserializationContext;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonMappingException;
import com.fasterxml.jackson.databind.MapperFeature;
import com.fasterxml.jackson.databind.deser.std.StdDeserializer;
import com.fasterxml.jackson.databind.exc.InvalidFormatException;
import com.fasterxml.jackson.databind.exc.UnrecognizedPropertyException;
import com.fasterxml.jackson.databind.exc.ValueInstantiationException;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.module.SimpleModule;
import dev.waymark.contract.PayloadJson;
import dev.waymark.conversation.value.Json;
import java.io.IOException;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Reads the arguments of a call into a record. Refuses unknown names and missing components. Converts nothing: a
 * missing number is not read as zero, nor text as a number.
 */
final class ArgumentReader {
    private static final JsonMapper MAPPER = PayloadJson.MAPPER
            .rebuild()
            .addModule(new SimpleModule().addDeserializer(Json.class, new AnyValue()))
            .enable(
                    DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES,
                    DeserializationFeature.FAIL_ON_NULL_CREATOR_PROPERTIES,
                    DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES,
                    DeserializationFeature.FAIL_ON_NUMBERS_FOR_ENUMS)
            .disable(MapperFeature.ALLOW_COERCION_OF_SCALARS)
            .build();

    private ArgumentReader() {}

    /** Reads any value. A null is a value too. */
    private static final class AnyValue extends StdDeserializer<Json> {
        private static final long serialVersionUID = 1;

        AnyValue() {
            super(Json.class);
        }

        @Override
        public Json deserialize(JsonParser parser, DeserializationContext context) throws IOException {
            return Json.of(context.readValue(parser, Object.class));
        }

        @Override
        public Json getNullValue(DeserializationContext context) {
            return Json.of(null);
        }

        @Override
        public @Nullable Object getAbsentValue(DeserializationContext context) {
            return null;
        }
    }

    /**
     * Reads the arguments.
     *
     * @throws IllegalArgumentException if they do not fit this record; the message says why, for the model
     */
    static <A> A read(Json args, Class<A> type) {
        try {
            return MAPPER.convertValue(args.value(), type);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(words(e), e);
        }
    }

    /** Why the arguments do not fit this record, for the model; empty if they do. */
    static Optional<String> problem(Json args, Class<?> type) {
        try {
            read(args, type);
            return Optional.empty();
        } catch (IllegalArgumentException e) {
            return Optional.of(String.valueOf(e.getMessage()));
        }
    }

    /** Jackson's own messages contain names of classes. */
    private static String words(IllegalArgumentException e) {
        if (!(e.getCause() instanceof JsonMappingException refused)) {
            return String.valueOf(e.getMessage());
        }
        String place = refused.getPath().stream()
                .map(step -> "/" + (step.getFieldName() == null ? step.getIndex() : step.getFieldName()))
                .collect(Collectors.joining());
        return (place.isEmpty() ? "" : place + ": ") + reason(refused);
    }

    private static String reason(JsonMappingException refused) {
        if (refused instanceof UnrecognizedPropertyException) {
            return "there is no such argument";
        }
        if (refused instanceof InvalidFormatException invalid) {
            return "not a valid value: " + invalid.getValue();
        }
        // The constructor of a record may check its components.
        if (refused instanceof ValueInstantiationException
                && refused.getCause() != null
                && refused.getCause().getMessage() != null) {
            return refused.getCause().getMessage();
        }
        return "missing, out of range, or of another type";
    }
}
