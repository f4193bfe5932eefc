package dev.waymark.tool;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JavaType;
import com.fasterxml.jackson.databind.JsonMappingException;
import com.fasterxml.jackson.databind.JsonSerializer;
import com.fasterxml.jackson.databind.SerializerProvider;
import com.fasterxml.jackson.databind.ser.PropertyWriter;
import dev.waymark.contract.PayloadJson;
import java.lang.reflect.Type;
import java.util.HashSet;
import java.util.Iterator;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Writes what a method returned as the result that the model sees: a string unchanged, anything else as JSON. */
public final class ResultText {
    private static final Logger LOG = LoggerFactory.getLogger(ResultText.class);

    private ResultText() {}

    /**
     * Writes a value. A value that cannot be written is not reported as an error, since the tool has run and the model
     * would call it again.
     */
    public static String of(String tool, @Nullable Object result) {
        if (result instanceof String text) {
            return text;
        }
        try {
            return PayloadJson.MAPPER.writeValueAsString(result);
        } catch (JsonProcessingException | RuntimeException | StackOverflowError e) {
            return unwritable(tool, e);
        }
    }

    /** The result of a tool that has run but whose return value cannot be written. */
    public static String unwritable(String tool, Throwable why) {
        LOG.warn(
                "The tool {} has run, but its result can't be written. The model is told that the call is done",
                tool,
                why);
        return "Done. The tool " + tool + " has run, but what it returned can't be shown here. Do not repeat the call.";
    }

    /**
     * Why values of this type cannot be written; empty if they can. A value may still fail, for example because it
     * contains itself.
     */
    public static Optional<String> problem(Type returned) {
        return new Check().problem(PayloadJson.MAPPER.constructType(returned), "its result");
    }

    private static final class Check {
        private final SerializerProvider serializers = PayloadJson.MAPPER.getSerializerProviderInstance();
        private final Set<JavaType> seen = new HashSet<>();

        private Optional<String> problem(JavaType type, String place) {
            if (type.getContentType() != null) {
                return problem(type.getContentType(), place);
            }
            // The value of an interface or an abstract class is of another class.
            if (!type.isConcrete() || type.isPrimitive() || type.isJavaLangObject() || !seen.add(type)) {
                return Optional.empty();
            }
            try {
                JsonSerializer<Object> serializer = serializers.findValueSerializer(type);
                if (serializers.isUnknownTypeSerializer(serializer)) {
                    return Optional.of(place + " can't be written as JSON, because "
                            + type.getRawClass().getSimpleName() + " has no getters");
                }
                Iterator<PropertyWriter> properties = serializer.properties();
                while (properties.hasNext()) {
                    PropertyWriter property = properties.next();
                    Optional<String> problem =
                            problem(property.getType(), type.getRawClass().getSimpleName() + "." + property.getName());
                    if (problem.isPresent()) {
                        return problem;
                    }
                }
                return Optional.empty();
            } catch (JsonMappingException e) {
                return Optional.of(place + " can't be written as JSON: " + e.getOriginalMessage());
            }
        }
    }
}
