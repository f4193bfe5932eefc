package dev.waymark.langchain4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.langchain4j.agent.tool.P;
import dev.langchain4j.agent.tool.ToolExecutionRequest;
import dev.langchain4j.agent.tool.ToolMemoryId;
import dev.langchain4j.agent.tool.ToolSpecification;
import dev.langchain4j.exception.ToolArgumentsException;
import dev.langchain4j.exception.ToolExecutionException;
import dev.waymark.agent.ToolSpec;
import dev.waymark.conversation.value.Json;
import dev.waymark.tool.EffectUnknownException;
import dev.waymark.tool.Tool;
import dev.waymark.tool.ToolArguments;
import dev.waymark.tool.ToolContext;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class LangChainToolsTest {
    private static final ToolContext CALL = new ToolContext("thread", "tu_1", "book", "key");

    record Guest(String name, int age) {}

    static final class Bookings {
        @dev.langchain4j.agent.tool.Tool("Books a room")
        List<String> book(
                @P("Where to") String city,
                int nights,
                List<Guest> guests,
                @P(value = "", required = false) String note) {
            return List.of(city, String.valueOf(nights), guests.get(0).name(), String.valueOf(note));
        }

        @dev.langchain4j.agent.tool.Tool("Cancels")
        void cancel() throws IOException {
            throw new IOException("too late");
        }
    }

    static final class Remembering {
        @dev.langchain4j.agent.tool.Tool("Remembers")
        void remember(@ToolMemoryId String id) {}
    }

    @Test
    void of_annotatedMethods_areSideEffectingTools() throws Exception {
        List<Tool> tools = LangChainTools.of(new Bookings());

        assertThat(tools.stream().map(tool -> tool.spec().name())).containsExactly("book", "cancel");
        assertThat(tools).allMatch(tool -> tool.spec().hasEffect());
        Json arguments =
                Json.of(Map.of("city", "Oslo", "nights", 2, "guests", List.of(Map.of("name", "Ann", "age", 40))));
        assertThat(ToolArguments.schemaProblem(tools.get(0).spec().input())).isEmpty();
        assertThat(ToolArguments.problem(tools.get(0).spec().input(), arguments))
                .isEmpty();
        assertThat(ToolArguments.problem(tools.get(0).spec().input(), Json.EMPTY_OBJECT))
                .isPresent();
        assertThat(tools.get(0).run(arguments, CALL)).isEqualTo("[\"Oslo\",\"2\",\"Ann\",\"null\"]");
        assertThatThrownBy(() -> tools.get(1).run(Json.EMPTY_OBJECT, CALL))
                .isExactlyInstanceOf(IOException.class)
                .hasMessage("too late");
    }

    static final class OptionalPayments {
        private final List<String> paid = new ArrayList<>();

        @dev.langchain4j.agent.tool.Tool("Pays")
        List<Object> pay(@P(value = "To", required = false) String iban, Guest by) {
            paid.add(iban);
            List<Object> receipt = new ArrayList<>();
            receipt.add(receipt);
            return receipt;
        }
    }

    /** Arguments for another build's method are refused, not adapted. */
    @Test
    void of_annotatedMethod_refusesUnknownAndMissingArguments() {
        Tool pay = LangChainTools.of(new OptionalPayments()).get(0);
        Json by = Json.of(Map.of("name", "Ann", "age", 40));

        assertThat(ToolArguments.problem(pay.spec().input(), Json.of(Map.of("cents", 50, "by", by))))
                .isPresent();
        assertThat(pay.problem(Json.of(Map.of("by", by)))).isEmpty();
        assertThat(pay.problem(Json.of(Map.of("by", Map.of("name", "Ann")))))
                .contains("/by: missing, or not a valid value");
    }

    @Test
    void run_unserializableResult_isDone() throws Exception {
        OptionalPayments payments = new OptionalPayments();
        Tool pay = LangChainTools.of(payments).get(0);

        assertThat(pay.run(Json.of(Map.of("iban", "NO93", "by", Map.of("name", "Ann", "age", 40))), CALL))
                .startsWith("Done. The tool pay has run");
        assertThat(payments.paid).containsExactly("NO93");
    }

    @Test
    void of_declaration_appliesToAll() {
        assertThat(LangChainTools.of(new Bookings(), ToolSpec.Builder::approval))
                .allMatch(tool -> tool.spec().approval());
    }

    @Test
    void of_unsupportedMethod_isRefusedWithReason() {
        assertThatThrownBy(() -> LangChainTools.of("text"))
                .hasMessageContaining("has no method with LangChain4j's @Tool");
        assertThatThrownBy(() -> LangChainTools.of(new Remembering())).hasMessageContaining("takes a memory id");
    }

    private static Tool executedBy(LangChainTools.RequestExecutor executor) {
        ToolSpecification listed =
                ToolSpecification.builder().name("bookings.book").build();
        return LangChainTools.ofSpecifications(List.of(listed), executor).get(0);
    }

    @Test
    void ofSpecifications_areSideEffectingToolsThatCallTheExecutor() throws Exception {
        List<ToolExecutionRequest> requests = new ArrayList<>();
        Tool tool = executedBy(request -> {
            requests.add(request);
            return "Booked";
        });

        assertThat(tool.run(Json.of(Map.of("city", "Oslo")), CALL)).isEqualTo("Booked");
        assertThat(requests)
                .containsExactly(ToolExecutionRequest.builder()
                        .id("tu_1")
                        .name("bookings.book")
                        .arguments("{\"city\": \"Oslo\"}")
                        .build());
        assertThat(tool.spec().hasEffect()).isTrue();
        assertThat(tool.spec().name()).matches("bookings_book_[0-9a-f]{12}");
        assertThat(tool.spec().description()).isEmpty();
        assertThat(tool.spec().input()).isEqualTo(Json.of(Map.of("type", "object")));
    }

    @Test
    void ofSpecifications_declaration_appliesToAll() {
        List<ToolSpecification> listed = List.of(
                ToolSpecification.builder().name("a").build(),
                ToolSpecification.builder().name("b").build());

        assertThat(LangChainTools.ofSpecifications(listed, request -> "", ToolSpec.Builder::safeToRetry))
                .hasSize(2)
                .noneMatch(tool -> tool.spec().hasEffect());
    }

    static List<Exception> reportedByATool() {
        return List.of(
                new ToolExecutionException("no rooms"),
                new ToolExecutionException("no rooms", -32603),
                new ToolExecutionException(new RuntimeException("Unexpected status code: 400")),
                new ToolArgumentsException("no city", -32602));
    }

    @ParameterizedTest
    @MethodSource("reportedByATool")
    void ofSpecifications_errorThatTheToolReports_isAnErrorResult(Exception thrown) {
        Tool tool = executedBy(request -> {
            throw thrown;
        });

        assertThatThrownBy(() -> tool.run(Json.EMPTY_OBJECT, CALL)).isSameAs(thrown);
    }

    static List<Exception> otherExceptions() {
        return List.of(
                new ToolExecutionException(new IOException("connection reset")),
                new ToolExecutionException(new IllegalStateException("Operation cancelled due to transport failure")),
                new ToolExecutionException(new RuntimeException("Unexpected status code: 502")),
                new ToolExecutionException(new RuntimeException("Unexpected status code: 408")),
                new ToolExecutionException("timed out", -32001),
                new RuntimeException("Unsupported content type: \"image\""));
    }

    /** The tool may have taken effect, so an error result would make the model try again. */
    @ParameterizedTest
    @MethodSource("otherExceptions")
    void ofSpecifications_otherException_isUnknownOutcome(Exception thrown) {
        Tool tool = executedBy(request -> {
            throw thrown;
        });

        assertThatThrownBy(() -> tool.run(Json.EMPTY_OBJECT, CALL)).isExactlyInstanceOf(EffectUnknownException.class);
    }

    @Test
    void ofSpecifications_interruption_isPassedOn() {
        RuntimeException interrupted = new RuntimeException(new InterruptedException());
        Tool tool = executedBy(request -> {
            throw interrupted;
        });

        assertThatThrownBy(() -> tool.run(Json.EMPTY_OBJECT, CALL)).isSameAs(interrupted);
    }
}
