package dev.waymark.worker.tool.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.conversation.value.Json;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class UrlTemplateTest {
    private static UrlTemplate.Filled fill(String url, Map<String, ?> args) {
        return UrlTemplate.of(url).fill(Json.of(args), text -> text.replace("${HOME}", "https://home.example/base"));
    }

    private static String address(String url, Map<String, ?> args) {
        return ((UrlTemplate.Filled.Address) fill(url, args)).url().toString();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '~', textBlock = """
                    7          | https://a.example/7
                    a b        | https://a.example/a%20b
                    a/b        | https://a.example/a%2Fb
                    a?b=c&d#e  | https://a.example/a%3Fb%3Dc%26d%23e
                    ../x       | https://a.example/..%2Fx
                    %2e%2e     | https://a.example/%252e%252e
                    ...        | https://a.example/...
                    a@b:c      | https://a.example/a%40b%3Ac
                    {id}       | https://a.example/%7Bid%7D
                    ${HOME}    | https://a.example/%24%7BHOME%7D
                    \\         | https://a.example/%5C
                    é+€        | https://a.example/%C3%A9%2B%E2%82%AC
                    """)
    void value_inThePath_isOneSegment(String value, String address) {
        assertThat(address("https://a.example/{id}", Map.of("id", value))).isEqualTo(address);
    }

    @Test
    void value_inTheQuery_isOneValue() {
        assertThat(address("https://a.example/?q={q}&page=1", Map.of("q", "a&page=2#x y")))
                .isEqualTo("https://a.example/?q=a%26page%3D2%23x%20y&page=1");
        assertThat(address("https://a.example/?q={q}", Map.of("q", ""))).isEqualTo("https://a.example/?q=");
    }

    @Test
    void numbersAndBooleans_areSpelledAsInJson() {
        assertThat(address("https://a.example/{i}/{d}/{b}", Map.of("i", 7, "d", 1.5, "b", true)))
                .isEqualTo("https://a.example/7/1.5/true");
    }

    @Test
    void valueWithoutATextForm_isAMisfit() {
        Map<String, Object> nothing = new HashMap<>();
        nothing.put("id", null);
        for (Map<String, ?> args : List.of(
                Map.<String, Object>of(),
                nothing,
                Map.of("id", List.of(1)),
                Map.of("id", Map.of()),
                Map.of("id", ""),
                Map.of("id", "."),
                Map.of("id", ".."))) {
            assertThat(fill("https://a.example/{id}", args))
                    .as("%s", args)
                    .isInstanceOf(UrlTemplate.Filled.Misfit.class);
        }
        assertThat(fill("https://a.example/{a}{b}/x", Map.of("a", ".", "b", ".")))
                .isInstanceOf(UrlTemplate.Filled.Misfit.class);
    }

    @Test
    void address_fromTheEnvironment_acceptsFieldsAfterItsHost() {
        assertThat(address("${HOME}/issues/{id}", Map.of("id", "a/b")))
                .isEqualTo("https://home.example/base/issues/a%2Fb");
        assertThat(fill("${HOME}{id}", Map.of("id", ".evil.example"))).isInstanceOf(UrlTemplate.Filled.Address.class);
        assertThat(UrlTemplate.of("https://${HOST}{id}/")
                        .fill(Json.of(Map.of("id", "x")), text -> text.replace("${HOST}", "home.example")))
                .isInstanceOf(UrlTemplate.Filled.Unusable.class);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "https://{host}/",
                "https://{host}.example/",
                "https://a.example:{port}/",
                "https://a.example{path}",
                "https://{user}@a.example/",
                "https://user:secret@a.example/",
                "https://a.example\\@b.example/",
                "{scheme}://a.example/",
                "ftp://a.example/",
                "file:///etc/passwd",
                "/relative",
                "https://",
                "https:///x",
                "https://a b/",
                "https://a.example/{id",
                "https://a.example/id}",
                "https://a.example/{}",
                "https://a.example/../{id}",
                "https://a.example:99999/",
                "javascript:alert(1)",
                ""
            })
    void invalidUrl_isAProblem(String url) {
        assertThat(UrlTemplate.of(url).problem()).isNotEmpty();
    }

    @Test
    void validUrl_isNotAProblem() {
        for (String url : List.of(
                "https://a.example",
                "HTTP://a.example:8080?q={q}",
                "https://a.example/{a}/{b}?c={c}#{d}",
                "${HOME}/{id}",
                "http://[::1]/",
                "https://bücher.example/ü")) {
            assertThat(UrlTemplate.of(url).problem()).as(url).isEqualTo(Optional.empty());
        }
    }
}
