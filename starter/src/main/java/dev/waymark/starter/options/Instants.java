package dev.waymark.starter.options;

import java.time.DateTimeException;
import java.time.Instant;
import java.time.OffsetDateTime;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Reads {@code 2026-11-20T00:00:00Z} and {@code 2026-11-20T01:00:00+01:00}. */
public final class Instants implements ITypeConverter<Instant> {
    @Override
    public Instant convert(String text) {
        try {
            return OffsetDateTime.parse(text).toInstant();
        } catch (DateTimeException e) {
            throw new TypeConversionException("'" + text + "' is not a time: write 2026-11-20T00:00:00Z");
        }
    }
}
