package dev.waymark.client.schedule;

import java.util.List;
import java.util.Optional;

/**
 * A page of the server's schedules.
 *
 * @param next the position of the next page, if there is one
 */
public record SchedulePage(List<AgentSchedule> schedules, Optional<String> next) {
    public SchedulePage {
        schedules = List.copyOf(schedules);
    }
}
