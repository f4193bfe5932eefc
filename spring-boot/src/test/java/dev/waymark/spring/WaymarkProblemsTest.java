package dev.waymark.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.springframework.test.web.servlet.request.MockMvcRequestBuilders.get;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.waymark.client.failure.Remedy;
import dev.waymark.client.failure.WaymarkException;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.context.runner.ReactiveWebApplicationContextRunner;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.test.web.reactive.server.WebTestClient;
import org.springframework.test.web.servlet.setup.MockMvcBuilders;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;

/** What callers of a controller see when a request to a thread fails. */
class WaymarkProblemsTest {
    private static final AutoConfigurations PROBLEMS = AutoConfigurations.of(WaymarkProblemsAutoConfiguration.class);

    private static final Map<String, WaymarkException> FAILURES = Map.of(
            "missing", new WaymarkException.NotFound("no such thread: trip", Remedy.of(Remedy.Action.LIST_THREADS)),
            "absent", new WaymarkException.NoWorker("no worker takes the work: trip", Remedy.NONE, "trip", true),
            "held",
                    new WaymarkException.NoWorker(
                            "no worker took the message in time: trip", Remedy.NONE, "trip", false),
            "late", new WaymarkException.TimedOut("the turn is still running: trip", Remedy.NONE, "trip"),
            "bad", new WaymarkException.Refused("BadInput", "the thread id is empty", ""),
            "decided", new WaymarkException.Refused("AlreadyDecided", "the call is decided", ""));

    private static final Map<String, Map<String, Object>> DOCUMENTS = Map.of(
            "missing",
                    Map.of(
                            "status",
                            404,
                            "code",
                            "NotFound",
                            "detail",
                            "no such thread: trip",
                            "remedy",
                            "List the threads"),
            "absent", Map.of("status", 503, "code", "NoWorker", "thread", "trip", "accepted", true),
            "held", Map.of("status", 503, "code", "NoWorker", "thread", "trip", "accepted", false),
            "late", Map.of("status", 504, "code", "TimedOut", "thread", "trip"),
            "bad", Map.of("status", 400, "code", "BadInput", "detail", "the thread id is empty"),
            "decided", Map.of("status", 409, "code", "AlreadyDecided"));

    @RestController
    static class Desk {
        @GetMapping("/{kind}")
        String say(@PathVariable("kind") String kind) {
            throw FAILURES.get(kind);
        }
    }

    @Test
    void failure_inMvc_isAProblemDetail() {
        new WebApplicationContextRunner().withConfiguration(PROBLEMS).run(context -> {
            var mvc = MockMvcBuilders.standaloneSetup(new Desk())
                    .setControllerAdvice(context.getBean(WaymarkProblems.class))
                    .build();
            for (String kind : DOCUMENTS.keySet()) {
                var response = mvc.perform(get("/" + kind)).andReturn().getResponse();
                check(kind, response.getStatus(), response.getContentType(), response.getContentAsString());
            }
        });
    }

    @Test
    void failure_inWebFlux_isAProblemDetail() {
        new ReactiveWebApplicationContextRunner().withConfiguration(PROBLEMS).run(context -> {
            WebTestClient web = WebTestClient.bindToController(new Desk())
                    .controllerAdvice(context.getBean(WaymarkProblems.class))
                    .build();
            for (String kind : DOCUMENTS.keySet()) {
                var response = web.get()
                        .uri("/" + kind)
                        .exchange()
                        .expectBody(String.class)
                        .returnResult();
                check(
                        kind,
                        response.getStatus().value(),
                        String.valueOf(response.getResponseHeaders().getContentType()),
                        response.getResponseBody());
            }
        });
    }

    private static void check(String kind, int status, String type, String body) throws JsonProcessingException {
        Map<String, Object> expected = DOCUMENTS.get(kind);
        assertThat(status).isEqualTo(expected.get("status"));
        assertThat(type).startsWith("application/problem+json");
        assertThat(new ObjectMapper().readValue(body, new TypeReference<Map<String, Object>>() {}))
                .containsAllEntriesOf(expected);
    }

    @Test
    void applicationWithoutWebOrWithTheSettingOff_hasNoAdvice() {
        new ApplicationContextRunner()
                .withConfiguration(PROBLEMS)
                .run(context -> assertThat(context).doesNotHaveBean(WaymarkProblems.class));
        new WebApplicationContextRunner()
                .withConfiguration(PROBLEMS)
                .withPropertyValues("waymark.problem-details=false")
                .run(context -> assertThat(context).doesNotHaveBean(WaymarkProblems.class));
    }
}
