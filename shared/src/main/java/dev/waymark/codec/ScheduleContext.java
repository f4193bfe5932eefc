package dev.waymark.codec;

import io.temporal.payload.context.SerializationContext;

/**
 * The context of a payload that every thread of a schedule starts with. The threads' names are not known when the
 * payload is encrypted, so it is bound to the schedule.
 */
public record ScheduleContext(String namespace, String schedule) implements SerializationContext {}
