package dev.waymark.contract;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.util.Base64;
import java.util.zip.GZIPInputStream;
import java.util.zip.GZIPOutputStream;

/** Gzipped bytes in base64. */
public final class PackedBytes {
    private PackedBytes() {}

    public interface Source {
        void writeTo(OutputStream out) throws IOException;
    }

    public static String pack(Source source) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (OutputStream zip = new GZIPOutputStream(bytes)) {
            source.writeTo(zip);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return Base64.getEncoder().encodeToString(bytes.toByteArray());
    }

    static InputStream unpacking(String packed) {
        try {
            return new GZIPInputStream(
                    new ByteArrayInputStream(Base64.getDecoder().decode(packed)));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * @throws UncheckedIOException if the text is Base64, but not of gzipped bytes
     * @throws IllegalArgumentException if the text is not Base64
     */
    public static byte[] unpack(String packed) {
        try (InputStream zip = unpacking(packed)) {
            return zip.readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
