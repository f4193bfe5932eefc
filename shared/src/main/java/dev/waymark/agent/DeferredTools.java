package dev.waymark.agent;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.datatype.jdk8.Jdk8Module;
import com.fasterxml.jackson.datatype.jsr310.JavaTimeModule;
import dev.waymark.conversation.call.ToolTexts;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.lang.ref.SoftReference;
import java.util.Arrays;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.zip.GZIPInputStream;
import java.util.zip.GZIPOutputStream;
import org.jspecify.annotations.Nullable;

/**
 * Tools that are not in the list that a model is sent. The model finds their definitions with {@code find_tools} and
 * calls them with {@code use_tool}. The agent's record contains them gzipped. Thread-safe.
 */
public final class DeferredTools implements ToolImplementation {
    /** The name of the tool that finds others. It is reserved only for agents with deferred tools. */
    public static final String FIND_TOOL = ToolTexts.FIND_TOOL;
    /** The name of the tool that calls others. It is reserved only for agents with deferred tools. */
    public static final String USE_TOOL = "use_tool";
    /** The maximum number of deferred tools of an agent. */
    public static final int MOST_TOOLS = 2_000;
    /** Limited, because each thread's history records the agent in one payload of at most 2 MiB. */
    public static final int MOST_PACKED_BYTES = 512 * 1024;

    /** Limits the memory that a packed list can take when it is unpacked. */
    private static final int MOST_BYTES = 16 * 1024 * 1024;

    private static final ObjectMapper MAPPER = JsonMapper.builder()
            .addModule(new Jdk8Module())
            .addModule(new JavaTimeModule())
            .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
            .disable(SerializationFeature.WRITE_DURATIONS_AS_TIMESTAMPS)
            .defaultPropertyInclusion(
                    JsonInclude.Value.construct(JsonInclude.Include.NON_ABSENT, JsonInclude.Include.ALWAYS))
            .build();

    static final DeferredTools NONE = of(List.of());

    private final int count;
    private final byte[] packed;
    private SoftReference<List<ToolSpec>> unpacked = new SoftReference<>(null);

    private DeferredTools(int count, byte[] packed) {
        this.count = count;
        this.packed = packed;
    }

    @JsonCreator
    static DeferredTools read(@JsonProperty("count") int count, @JsonProperty("packed") @Nullable String packed) {
        return new DeferredTools(count, Base64.getDecoder().decode(packed == null ? "" : packed));
    }

    /**
     * Packs these tools.
     *
     * @throws IllegalArgumentException if there are too many, they are too large, or two have the same name
     */
    public static DeferredTools of(List<ToolSpec> tools) {
        if (tools.size() > MOST_TOOLS) {
            throw new IllegalArgumentException(tools.size() + " deferred tools, at most " + MOST_TOOLS);
        }
        Map<String, ToolSpec> byName = new LinkedHashMap<>();
        tools.forEach(tool -> {
            if (byName.put(tool.name(), tool) != null) {
                throw new IllegalArgumentException("two deferred tools have the name " + tool.name());
            }
        });
        try {
            byte[] json = MAPPER.writeValueAsBytes(tools);
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            try (OutputStream zip = new GZIPOutputStream(bytes)) {
                zip.write(json);
            }
            if (json.length > MOST_BYTES || bytes.size() > MOST_PACKED_BYTES) {
                throw new IllegalArgumentException("the definitions of " + tools.size() + " deferred tools have "
                        + bytes.size() + " bytes when they are packed, at most " + MOST_PACKED_BYTES + ", and "
                        + json.length + " before, at most " + MOST_BYTES);
            }
            DeferredTools deferred = new DeferredTools(tools.size(), bytes.toByteArray());
            deferred.unpacked = new SoftReference<>(List.copyOf(tools));
            return deferred;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The number of tools. */
    @JsonProperty
    public int count() {
        return count;
    }

    @JsonProperty
    String packed() {
        return Base64.getEncoder().encodeToString(packed);
    }

    /** The size of the gzipped definitions. */
    public int packedBytes() {
        return packed.length;
    }

    /** The size of the gzipped definitions in the agent's record, which is JSON. */
    public int encodedBytes() {
        return (packed.length + 2) / 3 * 4;
    }

    /** The tools, in the order of the agent. */
    public synchronized List<ToolSpec> tools() {
        List<ToolSpec> known = unpacked.get();
        if (known == null) {
            known = unpack();
            unpacked = new SoftReference<>(known);
        }
        return known;
    }

    private List<ToolSpec> unpack() {
        if (packed.length == 0) {
            return List.of();
        }
        try (GZIPInputStream zip = new GZIPInputStream(new ByteArrayInputStream(packed))) {
            byte[] json = zip.readNBytes(MOST_BYTES + 1);
            if (json.length > MOST_BYTES) {
                throw new IllegalStateException("the deferred tools have more than " + MOST_BYTES + " bytes");
            }
            return List.copyOf(MAPPER.readValue(json, new TypeReference<List<ToolSpec>>() {}));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The tool with this name. */
    public Optional<ToolSpec> find(String name) {
        return tools().stream().filter(tool -> tool.name().equals(name)).findFirst();
    }

    @Override
    public ToolSpec.Kind kind() {
        return ToolSpec.Kind.FIND;
    }

    @Override
    public <R> R accept(Cases<R> cases) {
        return cases.deferred(this);
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof DeferredTools deferred
                && (Arrays.equals(packed, deferred.packed) || tools().equals(deferred.tools()));
    }

    @Override
    public int hashCode() {
        return count;
    }

    @Override
    public String toString() {
        return "DeferredTools[" + count + "]";
    }
}
