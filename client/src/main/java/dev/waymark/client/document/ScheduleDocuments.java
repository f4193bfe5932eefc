package dev.waymark.client.document;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.client.schedule.AgentSchedule;
import dev.waymark.client.schedule.Recurrence;
import dev.waymark.client.schedule.SchedulePage;
import dev.waymark.client.schedule.ScheduleTrigger;
import java.time.Instant;
import java.util.List;
import java.util.Locale;

/** Creates the JSON documents about schedules. New versions add fields and never remove any. */
public final class ScheduleDocuments {
    private ScheduleDocuments() {}

    public static ObjectNode of(AgentSchedule schedule) {
        ObjectNode document = JsonNodeFactory.instance.objectNode();
        document.put("name", schedule.name());
        document.put("agent", schedule.agent());
        schedule.message().ifPresent(text -> document.put("message", text));
        schedule.owner().ifPresent(owner -> document.set("owner", JsonDocuments.tree(owner)));
        AgentSchedule.Timing timing = schedule.timing();
        timing.recurrence().ifPresent(recurrence -> recurrence.match(new RecurrenceField(document)));
        document.put("timezone", timing.timezone());
        timing.overlap().ifPresent(overlap -> document.put("overlap", overlap.wireName()));
        document.put("jitter", timing.jitter().toString());
        document.put("paused", schedule.paused());
        schedule.note().ifPresent(note -> document.put("note", note));
        AgentSchedule.Starts starts = schedule.starts();
        document.set("next", times(starts.next()));
        document.set("running", JsonDocuments.tree(starts.running()));
        document.put("started", starts.started());
        document.put("skipped", starts.skipped());
        ArrayNode runs = document.putArray("runs");
        for (AgentSchedule.Run run : starts.runs()) {
            ObjectNode row = runs.addObject();
            row.put("thread", run.thread());
            row.put("time", run.time().toString());
            row.put("startedAt", run.startedAt().toString());
            run.outcome().ifPresent(outcome -> row.put("status", outcome));
        }
        return document;
    }

    /** Adds the times to a document, in the field that creates a schedule with them. */
    private record RecurrenceField(ObjectNode document) implements Recurrence.Cases<ObjectNode> {
        @Override
        public ObjectNode cron(Recurrence.Cron cron) {
            return document.put("cron", cron.expression());
        }

        @Override
        public ObjectNode every(Recurrence.Every every) {
            return document.put("every", every.interval().toString());
        }

        @Override
        public ObjectNode calendar(Recurrence.Calendar calendar) {
            return document.set("calendar", JsonDocuments.tree(calendar.fields()));
        }
    }

    public static ObjectNode of(SchedulePage page) {
        ObjectNode document = JsonNodeFactory.instance.objectNode();
        ArrayNode list = document.putArray("schedules");
        page.schedules().forEach(schedule -> list.add(of(schedule)));
        page.next().ifPresent(next -> document.put("next", next));
        return document;
    }

    public static ObjectNode of(ScheduleTrigger trigger) {
        ObjectNode document = JsonNodeFactory.instance.objectNode();
        document.put("result", trigger.result().name().toLowerCase(Locale.ROOT));
        trigger.thread().ifPresent(thread -> document.put("thread", thread));
        return document;
    }

    /** The times as a list of texts. */
    public static ArrayNode times(List<Instant> times) {
        ArrayNode list = JsonNodeFactory.instance.arrayNode();
        times.forEach(time -> list.add(time.toString()));
        return list;
    }
}
