package dev.waymark.tool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.waymark.agent.ToolSpec;
import dev.waymark.conversation.value.Json;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ToolMethodsTest {
    private static final ToolContext CONTEXT = new ToolContext("thread", "tu_1", "charge", "key-1");

    record Charge(String customer, int cents) {}

    record Receipt(String id) {}

    static class Room {}

    record Stay(Room room) {}

    /** A value that contains itself cannot be written. */
    record Booking(String id, List<Object> parts) {}

    static class Bookings {
        private final List<String> booked = new ArrayList<>();

        @ToolMethod(description = "Books a room")
        Booking book(Charge charge) {
            booked.add(charge.customer());
            Booking booking = new Booking("b-1", new ArrayList<>());
            booking.parts().add(booking);
            return booking;
        }
    }

    static class Payments {
        @ToolMethod(
                description = "Charges a card",
                approval = true,
                dedupe = true,
                timeoutSeconds = 5,
                honoursKey = true,
                askOnUnknown = true,
                verify = "wasCharged",
                verifyForbids = true)
        Receipt charge(Charge charge, ToolContext call) {
            return new Receipt(charge.customer() + "/" + charge.cents() + "/" + call.idempotencyKey());
        }

        private VerifyResult wasCharged(ToolContext call) {
            return call.idempotencyKey().equals("key-1") ? VerifyResult.landed("charged") : VerifyResult.notLanded();
        }

        @ToolMethod(name = "list_customers", description = "All customers", safeToRetry = true)
        public List<String> customers() {
            return List.of("Ann", "Bob");
        }

        @ToolMethod(description = "Fails")
        void fail() throws IOException {
            throw new IOException("no connection");
        }

        @ToolMethod(description = "Does it")
        void work() {}

        String noTool() {
            return "";
        }
    }

    /** A proxy of the kind that frameworks create for a bean: a subclass that overrides its methods. */
    static class Proxy extends Payments {
        @Override
        public List<String> customers() {
            return List.of("through the proxy");
        }
    }

    private static Tool tool(Object owner, String name) {
        return ToolMethods.of(owner).stream()
                .filter(tool -> tool.spec().name().equals(name))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void of_object_returnsAToolPerAnnotatedMethod() {
        assertThat(ToolMethods.of(new Payments()).stream()
                        .map(tool -> tool.spec().name()))
                .containsExactly("charge", "list_customers", "fail", "work");
        assertThat(ToolMethods.in(Payments.class)).isTrue();
        assertThat(ToolMethods.in(String.class)).isFalse();
    }

    @Test
    void of_method_appliesTheAnnotation() {
        ToolSpec expected = ToolSpec.java("charge")
                .describedAs(
                        "Charges a card",
                        JavaTool.of("x", "Any", Charge.class, (args, call) -> "")
                                .spec()
                                .input())
                .timeout(Duration.ofSeconds(5))
                .approval()
                .dedupe()
                .honoursKey()
                .askOnUnknown()
                .verifies()
                .verifyForbids()
                .build();

        assertThat(tool(new Payments(), "charge").spec()).isEqualTo(expected);
    }

    @Test
    void of_methodWithoutDeclarations_hasSideEffects() {
        assertThat(tool(new Payments(), "work").spec())
                .isEqualTo(ToolSpec.java("work")
                        .describedAs(
                                "Does it",
                                Json.of(Map.of(
                                        "type", "object", "properties", Map.of(), "additionalProperties", false)))
                        .build())
                .returns(true, ToolSpec::hasEffect);
    }

    @Test
    void run_returnsTextForTheModel() throws Exception {
        Json charge = Json.of(Map.of("customer", "Ann", "cents", 42));

        assertThat(tool(new Payments(), "charge").run(charge, CONTEXT)).isEqualTo("{\"id\":\"Ann/42/key-1\"}");
        assertThat(tool(new Payments(), "list_customers").run(Json.EMPTY_OBJECT, CONTEXT))
                .isEqualTo("[\"Ann\",\"Bob\"]");
        assertThat(tool(new Payments(), "work").run(Json.EMPTY_OBJECT, CONTEXT)).isEqualTo("done");
    }

    /** The room is booked. The model must not book it again. */
    @Test
    void run_unwritableResult_isNotAnError() throws Exception {
        Bookings bookings = new Bookings();

        String text = tool(bookings, "book").run(Json.of(Map.of("customer", "Ann", "cents", 42)), CONTEXT);

        assertThat(bookings.booked).containsExactly("Ann");
        assertThat(text)
                .isEqualTo("Done. The tool book has run, but what it returned can't be shown here. Do not repeat the"
                        + " call.");
    }

    @Test
    void run_withAProxy_callsTheProxy() throws Exception {
        assertThat(tool(new Proxy(), "list_customers").run(Json.EMPTY_OBJECT, CONTEXT))
                .isEqualTo("[\"through the proxy\"]");
    }

    @Test
    void run_exception_isTheMethodsOwn() {
        assertThatThrownBy(() -> tool(new Payments(), "fail").run(Json.EMPTY_OBJECT, CONTEXT))
                .isExactlyInstanceOf(IOException.class)
                .hasMessage("no connection");
    }

    @Test
    void verify_callsTheNamedMethod() throws Exception {
        Json charge = Json.of(Map.of("customer", "Ann", "cents", 42));

        assertThat(tool(new Payments(), "charge").verify(charge, CONTEXT)).isEqualTo(VerifyResult.landed("charged"));
        assertThat(tool(new Payments(), "work").verify(charge, CONTEXT)).isEqualTo(VerifyResult.unknown());
    }

    @Test
    void of_unsuitableMethod_saysWhy() {
        assertThatThrownBy(() -> ToolMethods.of(new Object() {
                    @ToolMethod(description = "Two")
                    void two(String one, int other) {}
                }))
                .hasMessageEndingWith(
                        ".two can't be a tool: it takes one record and, if needed, a ToolContext, not String");
        assertThatThrownBy(() -> ToolMethods.of(new Object() {
                    @ToolMethod(description = "Unchecked", verify = "check")
                    void unchecked() {}
                }))
                .hasMessageEndingWith("there is no method check with its parameters that returns a VerifyResult");
        assertThatThrownBy(() -> ToolMethods.of(new Object() {
                    @ToolMethod(description = "Both", safeToRetry = true, honoursKey = true)
                    void contradiction() {}
                }))
                .hasMessageEndingWith("settings for side effects are not allowed with safeToRetry");
        assertThatThrownBy(() -> ToolMethods.of(new Object() {
                    @ToolMethod(description = "Stays")
                    Map<String, List<Stay>> stays() {
                        return Map.of();
                    }
                }))
                .hasMessageEndingWith(".stays can't be a tool: Stay.room can't be written as JSON, because Room has no"
                        + " getters. Return text, a record, or nothing");
        assertThatThrownBy(() -> ToolMethods.of(new Object() {
                    @ToolMethod(description = " ")
                    void silent() {}
                }))
                .hasMessageEndingWith(".silent can't be a tool: its description is empty. Tell the model what it does");
        assertThatThrownBy(() -> ToolMethods.of(new Object() {
                    @ToolMethod(description = "Hurries", timeoutSeconds = 0)
                    void hurry() {}
                }))
                .hasMessageEndingWith(".hurry can't be a tool: timeoutSeconds must be at least 1, found 0");
        assertThatThrownBy(() -> ToolMethods.of("text")).hasMessageContaining("has no method with @ToolMethod");
    }
}
