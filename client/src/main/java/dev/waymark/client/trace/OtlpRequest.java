package dev.waymark.client.trace;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.google.protobuf.ByteString;
import com.google.protobuf.CodedOutputStream;
import dev.waymark.contract.PayloadJson;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Instant;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Encodes spans as an export request of the OpenTelemetry protocol (OTLP), in either of its two encodings. */
final class OtlpRequest {
    /** Of the version of the semantic conventions that names and attributes follow. */
    private static final String SCHEMA = "https://opentelemetry.io/schemas/1.37.0";

    private static final String SERVICE = "service.name";
    private static final String SCOPE = "dev.waymark";
    private static final int STATUS_ERROR = 2;

    private OtlpRequest() {}

    /** Returns the request as a JSON document. Written without line breaks, it is one line of an OTLP file. */
    public static ObjectNode json(List<Span> spans, String service) {
        ObjectNode request = PayloadJson.MAPPER.createObjectNode();
        ObjectNode resource = request.putArray("resourceSpans").addObject();
        attribute(resource.putObject("resource").putArray("attributes"), SERVICE, service);
        ObjectNode scope = resource.putArray("scopeSpans").addObject();
        scope.putObject("scope").put("name", SCOPE);
        ArrayNode all = scope.putArray("spans");
        spans.forEach(span -> json(span, all.addObject()));
        scope.put("schemaUrl", SCHEMA);
        return request;
    }

    private static void json(Span span, ObjectNode node) {
        node.put("traceId", span.traceId());
        node.put("spanId", span.spanId());
        span.parentId().ifPresent(parent -> node.put("parentSpanId", parent));
        node.put("name", span.name());
        node.put("kind", span.kind().number());
        node.put("startTimeUnixNano", Long.toString(nanos(span.start())));
        node.put("endTimeUnixNano", Long.toString(nanos(span.end())));
        ArrayNode attributes = node.putArray("attributes");
        span.attributes().forEach((name, value) -> attribute(attributes, name, value));
        ObjectNode status = node.putObject("status");
        span.problem().ifPresent(problem -> status.put("code", STATUS_ERROR).put("message", problem));
    }

    private static void attribute(ArrayNode attributes, String name, Object value) {
        value(attributes.addObject().put("key", name).putObject("value"), value);
    }

    private static void value(ObjectNode node, Object value) {
        if (value instanceof Long number) {
            node.put("intValue", Long.toString(number));
        } else if (value instanceof Double number) {
            node.put("doubleValue", number);
        } else if (value instanceof Boolean flag) {
            node.put("boolValue", flag);
        } else if (value instanceof List<?> list) {
            ArrayNode values = node.putObject("arrayValue").putArray("values");
            list.forEach(item -> value(values.addObject(), item));
        } else {
            node.put("stringValue", value.toString());
        }
    }

    /** Returns the request in protobuf, as an encoded {@code ExportTraceServiceRequest}. */
    public static byte[] protobuf(List<Span> spans, String service) {
        return message(request -> request.writeByteArray(1, message(resource -> {
            resource.writeByteArray(1, message(of -> of.writeByteArray(1, attribute(SERVICE, service))));
            resource.writeByteArray(2, message(scope -> {
                scope.writeByteArray(1, message(of -> of.writeString(1, SCOPE)));
                for (Span span : spans) {
                    scope.writeByteArray(2, protobuf(span));
                }
                scope.writeString(3, SCHEMA);
            }));
        })));
    }

    private static byte[] protobuf(Span span) {
        return message(out -> {
            out.writeBytes(1, bytes(span.traceId()));
            out.writeBytes(2, bytes(span.spanId()));
            if (span.parentId().isPresent()) {
                out.writeBytes(4, bytes(span.parentId().get()));
            }
            out.writeString(5, span.name());
            out.writeEnum(6, span.kind().number());
            out.writeFixed64(7, nanos(span.start()));
            out.writeFixed64(8, nanos(span.end()));
            for (Map.Entry<String, Object> attribute : span.attributes().entrySet()) {
                out.writeByteArray(9, attribute(attribute.getKey(), attribute.getValue()));
            }
            if (span.problem().isPresent()) {
                String problem = span.problem().get();
                out.writeByteArray(15, message(status -> {
                    status.writeString(2, problem);
                    status.writeEnum(3, STATUS_ERROR);
                }));
            }
        });
    }

    private static byte[] attribute(String name, Object value) {
        return message(out -> {
            out.writeString(1, name);
            out.writeByteArray(2, value(value));
        });
    }

    private static byte[] value(Object value) {
        return message(out -> {
            if (value instanceof Long number) {
                out.writeInt64(3, number);
            } else if (value instanceof Double number) {
                out.writeDouble(4, number);
            } else if (value instanceof Boolean flag) {
                out.writeBool(2, flag);
            } else if (value instanceof List<?> list) {
                out.writeByteArray(5, message(array -> {
                    for (Object item : list) {
                        array.writeByteArray(1, value(item));
                    }
                }));
            } else {
                out.writeString(1, value.toString());
            }
        });
    }

    private static ByteString bytes(String hex) {
        return ByteString.copyFrom(HexFormat.of().parseHex(hex));
    }

    private static long nanos(Instant time) {
        return TimeUnit.SECONDS.toNanos(time.getEpochSecond()) + time.getNano();
    }

    private interface Fields {
        void writeTo(CodedOutputStream out) throws IOException;
    }

    private static byte[] message(Fields fields) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        CodedOutputStream out = CodedOutputStream.newInstance(bytes);
        try {
            fields.writeTo(out);
            out.flush();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return bytes.toByteArray();
    }
}
