package dev.waymark.worker.tool.mcp;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ParameterHeadersTest {
    private static JsonNode json(String text) throws Exception {
        return ToolServer.MAPPER.readTree(text.replace('\'', '"'));
    }

    @Test
    void markedParameters_atAnyDepth_areHeaders() throws Exception {
        JsonNode schema = json("{'type':'object','properties':{'region':{'type':'string','x-mcp-header':'Region'},"
                + "'to':{'type':'object','properties':{'account':{'type':['integer','null'],'x-mcp-header':'Account'},"
                + "'test':{'type':'boolean','x-mcp-header':'Test'}}}}}");

        assertThat(ParameterHeaders.problem(schema)).isEmpty();
        assertThat(ParameterHeaders.of(schema, json("{'region':'eu','to':{'account':4200,'test':true}}")))
                .isEqualTo(Map.of("Mcp-Param-Region", "eu", "Mcp-Param-Account", "4200", "Mcp-Param-Test", "true"));
        assertThat(ParameterHeaders.of(schema, json("{'to':{'account':null}}"))).isEmpty();
        assertThat(ParameterHeaders.of(schema, json("{'to':{'account':42.0}}")))
                .isEqualTo(Map.of("Mcp-Param-Account", "42"));
        assertThat(ParameterHeaders.problem(schema, json("{'to':{'account':9007199254740992}}")))
                .contains("to.account must be an integer from -9007199254740991 to 9007199254740991, because it is"
                        + " sent as a header");
        assertThat(ParameterHeaders.problem(schema, json("{'to':{'account':-9007199254740991}}")))
                .isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{'properties':{'a':{'type':'number','x-mcp-header':'A'}}}",
                "{'properties':{'a':{'x-mcp-header':'A'}}}",
                "{'properties':{'a':{'type':['string','integer'],'x-mcp-header':'A'}}}",
                "{'properties':{'a':{'type':'object','x-mcp-header':'A'}}}",
                "{'properties':{'a':{'type':'string','x-mcp-header':''}}}",
                "{'properties':{'a':{'type':'string','x-mcp-header':'A: b\\r\\nX'}}}",
                "{'properties':{'a':{'type':'string','x-mcp-header':7}}}",
                "{'properties':{'a':{'type':'string','x-mcp-header':'A'},'b':{'type':'string','x-mcp-header':'a'}}}",
                "{'properties':{'a':{'type':'array','items':{'type':'string','x-mcp-header':'A'}}}}",
                "{'anyOf':[{'properties':{'a':{'type':'string','x-mcp-header':'A'}}}]}",
                "{'$defs':{'d':{'type':'string','x-mcp-header':'A'}}}",
                "{'if':{'properties':{'a':{'type':'string','x-mcp-header':'A'}}}}",
                "{'type':'string','x-mcp-header':'A'}"
            })
    void marksThatTheSpecificationForbids_excludeTheTool(String schema) throws Exception {
        assertThat(ParameterHeaders.problem(json(schema))).isPresent();
    }

    @Test
    void namesAndValuesThatLookLikeMarks_areIgnored() throws Exception {
        JsonNode schema = json("{'properties':{'x-mcp-header':{'type':'string','enum':['A']},"
                + "'a':{'const':{'x-mcp-header':'B'},'default':{'x-mcp-header':'C'}}}}");

        assertThat(ParameterHeaders.problem(schema)).isEqualTo(Optional.empty());
        assertThat(ParameterHeaders.of(schema, json("{'x-mcp-header':'v'}"))).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(
            ignoreLeadingAndTrailingWhitespace = false,
            value = {
                "us-west1,us-west1",
                "'Hello, 世界','=?base64?SGVsbG8sIOS4lueVjA==?='",
                " padded ,=?base64?IHBhZGRlZCA=?=",
                "'line1\nline2',=?base64?bGluZTEKbGluZTI=?=",
                "=?base64?literal?=,=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="
            })
    void values_areEncodedAsInTheSpecification(String value, String header) {
        assertThat(ParameterHeaders.encoded(value)).isEqualTo(header);
    }
}
