package dev.waymark.contract;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.databind.JsonMappingException;
import dev.waymark.agent.AgentSpec;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.state.UnknownRulesException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.util.Objects;
import java.util.Optional;

/** The state that a run passes to the run that continues it, packed as base64 of gzipped JSON. */
public record CarriedState(Conversation state, Optional<AgentSpec> agent) {
    /**
     * Allows long names, since call ids are keys in the state, and a run that cannot read its input cannot even start.
     */
    private static final JsonFactory ANY_KEY = JsonFactory.builder()
            .streamReadConstraints(StreamReadConstraints.builder()
                    .maxNameLength(StreamReadConstraints.DEFAULT_MAX_STRING_LEN)
                    .build())
            .build();

    public CarriedState {
        Objects.requireNonNull(state, "state");
    }

    public String pack() {
        return PackedBytes.pack(this::writeTo);
    }

    private void writeTo(OutputStream out) throws IOException {
        PayloadJson.MAPPER.writeValue(out, this);
    }

    /** The state and the agent as JSON. */
    public byte[] bytes() {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try {
            writeTo(bytes);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return bytes.toByteArray();
    }

    /** Reads a packed state. Throws {@link UnknownRulesException} if this version does not know the state's rules. */
    public static CarriedState unpack(String packed) {
        return read(PackedBytes.unpacking(packed));
    }

    /** Reads what {@link #bytes} wrote. Throws {@link UnknownRulesException} like {@link #unpack}. */
    public static CarriedState read(InputStream json) {
        try (JsonParser parser = ANY_KEY.createParser(json)) {
            return PayloadJson.MAPPER.readValue(parser, CarriedState.class);
        } catch (JsonMappingException e) {
            if (e.getCause() instanceof UnknownRulesException unknown) {
                throw unknown;
            }
            throw new UncheckedIOException(e);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
