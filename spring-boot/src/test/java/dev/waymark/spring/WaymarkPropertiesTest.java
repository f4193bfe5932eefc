package dev.waymark.spring;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.RecordComponent;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Test;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.MapConfigurationPropertySource;

class WaymarkPropertiesTest {

    private static WaymarkProperties bound(Map<String, String> settings) {
        return new Binder(new MapConfigurationPropertySource(settings))
                .bindOrCreate("waymark", WaymarkProperties.class);
    }

    @Test
    void settings_overrideTheEnvironment() {
        Map<String, String> settings = new LinkedHashMap<>();
        settings.put("waymark.address", "one:7233");
        settings.put("waymark.tls.client-key", "key.pem");
        settings.put("waymark.tls.enabled", "true");
        settings.put("waymark.codec-keys", "file:keys");
        settings.put("waymark.thread-keys", "file:threads");
        settings.put("waymark.shares", "agent:batch=0.5");
        settings.put("waymark.anthropic.api-key", "secret");
        settings.put("waymark.openai.base-url", "");

        assertThat(bound(settings)
                        .over(Map.of(
                                "TEMPORAL_ADDRESS", "two:7233", "OPENAI_BASE_URL", "http://local/v1", "PATH", "/")))
                .isEqualTo(Map.of(
                        "TEMPORAL_ADDRESS", "one:7233",
                        "TEMPORAL_TLS", "true",
                        "TEMPORAL_TLS_CLIENT_KEY_PATH", "key.pem",
                        "WAYMARK_CODEC_KEYS", "file:keys",
                        "WAYMARK_THREAD_KEYS", "file:threads",
                        "WAYMARK_SHARES", "agent:batch=0.5",
                        "ANTHROPIC_API_KEY", "secret",
                        "OPENAI_BASE_URL", "http://local/v1",
                        "PATH", "/"));
    }

    @Test
    void defaults_areThoseOfTheCommandLine() {
        assertThat(bound(Map.of()))
                .isEqualTo(new WaymarkProperties(
                        true,
                        null,
                        null,
                        null,
                        null,
                        null,
                        new WaymarkProperties.Tls(null, null, null, null, null),
                        null,
                        null,
                        null,
                        null,
                        null,
                        "waymark",
                        null,
                        null,
                        null,
                        null,
                        true,
                        new WaymarkProperties.ModelService(null, null),
                        new WaymarkProperties.ModelService(null, null),
                        new WaymarkProperties.WorkerSettings(true, Duration.ofSeconds(30), null, null, false, null),
                        Map.of()));
    }

    @Test
    void schedule_hasTheDefaultsOfTheCommandLine() {
        WaymarkProperties bound = bound(Map.of(
                "waymark.schedules.nightly.agent", "billing",
                "waymark.schedules.nightly.message", "Check",
                "waymark.schedules.nightly.every", "24h",
                "waymark.schedules.first-monday.agent", "billing",
                "waymark.schedules.first-monday.message", "Sum up",
                "waymark.schedules.first-monday.calendar.dayOfWeek", "MON",
                "waymark.schedules.first-monday.calendar.dayOfMonth", "1-7",
                "waymark.schedules.first-monday.timezone", "Europe/Berlin"));

        assertThat(bound.schedules())
                .isEqualTo(Map.of(
                        "nightly",
                        new WaymarkProperties.ScheduleSettings(
                                "billing", "Check", null, Duration.ofDays(1), null, "UTC", "skip", Duration.ZERO),
                        "first-monday",
                        new WaymarkProperties.ScheduleSettings(
                                "billing",
                                "Sum up",
                                null,
                                null,
                                Map.of("dayOfWeek", "MON", "dayOfMonth", "1-7"),
                                "Europe/Berlin",
                                "skip",
                                Duration.ZERO)));
    }

    @Test
    void toString_omitsKeys() {
        assertThat(bound(Map.of(
                                "waymark.api-key", "secret1",
                                "waymark.codec-keys", "secret2",
                                "waymark.anthropic.api-key", "secret3"))
                        .toString())
                .doesNotContain("secret");
    }

    /** The metadata is written by hand, because the build has no annotation processor. */
    @Test
    void metadata_hasEverySettingWithItsTypeAndDescription() throws IOException {
        JsonNode metadata;
        try (InputStream file =
                WaymarkProperties.class.getResourceAsStream("/META-INF/spring-configuration-metadata.json")) {
            metadata = new ObjectMapper().readTree(file);
        }
        List<String> described = StreamSupport.stream(
                        metadata.path("properties").spliterator(), false)
                .map(each ->
                        each.path("name").asText() + " " + each.path("type").asText())
                .toList();

        List<String> settings = settings("waymark.", WaymarkProperties.class);
        settings.add("management.health.waymark.enabled java.lang.Boolean");
        assertThat(described).containsExactlyInAnyOrderElementsOf(settings);
        assertThat(metadata.path("properties"))
                .allSatisfy(
                        each -> assertThat(each.path("description").asText()).endsWith("."));
    }

    private static List<String> settings(String prefix, Class<?> type) {
        List<String> settings = new ArrayList<>();
        for (RecordComponent component : type.getRecordComponents()) {
            String name =
                    prefix + component.getName().replaceAll("([A-Z])", "-$1").toLowerCase();
            if (component.getType().isRecord()) {
                settings.addAll(settings(name + ".", component.getType()));
            } else {
                settings.add(name + " " + written(component));
            }
        }
        return settings;
    }

    private static String written(RecordComponent component) {
        Class<?> type = component.getType();
        if (type == Map.class) {
            return component.getGenericType().getTypeName().replace(" ", "");
        }
        if (type == boolean.class) {
            return Boolean.class.getName();
        }
        assertThat(type).isIn(Boolean.class, String.class, Path.class, Duration.class);
        return type.getName();
    }
}
