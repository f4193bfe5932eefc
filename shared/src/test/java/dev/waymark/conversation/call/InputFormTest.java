package dev.waymark.conversation.call;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import dev.waymark.contract.PayloadJson;
import dev.waymark.conversation.value.FormAction;
import dev.waymark.conversation.value.Json;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class InputFormTest {
    private static final Optional<String> FITS = Optional.empty();

    private static Json json(String text) {
        try {
            return PayloadJson.MAPPER.readValue(text.replace('\'', '"'), Json.class);
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException(text, e);
        }
    }

    private static InputForm form(String properties, String required) {
        return new InputForm(json("{'message':'M','requestedSchema':{'type':'object','properties':" + properties
                + ",'required':" + required + "}}"));
    }

    /** A form with one field takes plain text. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', textBlock = """
            {'type':'integer'}                            | 42        | 42
            {'type':'integer','minimum':5}                | 5         | 5
            {'type':'number'}                             | 1.5e2     | 150.0
            {'type':'number','maximum':2}                 | -2        | -2.0
            {'type':'boolean'}                            | yes       | true
            {'type':'string','enum':['a','b']}            | b         | "'b'"
            {'type':'string','oneOf':[{'const':'a'}]}     | a         | "'a'"
            {'type':'array','items':{'enum':['a','b']}}   | a         | "['a']"
            {'type':'string','format':'date'}             | 2026-11-26 | "'2026-11-26'"
            {'type':'string','format':'email'}            | a@b.example | "'a@b.example'"
            """)
    void answer_thatFits_isTheFieldsValue(String property, String answer, String value) {
        InputForm form = form("{'f':" + property + "}", "['f']");

        assertThat(form.misfit(answer, Optional.empty())).isEqualTo(FITS);
        assertThat(form.response(FormAction.ACCEPT, answer, Optional.empty()))
                .isEqualTo(json("{'action':'accept','content':{'f':" + value + "}}"));
    }

    /**
     * The rules must return a reason for any input of a person or a server, because an exception would stop the thread.
     */
    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', textBlock = """
            {'type':'integer'}                            | 1.5
            {'type':'integer'}                            | 99999999999999999999
            {'type':'integer','minimum':5}                | 4
            {'type':'number','minimum':0}                 | NaN
            {'type':'number'}                             | Infinity
            {'type':'number','maximum':1}                 | -Infinity
            {'type':'number'}                             | 1e999
            {'type':'number'}                             | 0x1p3
            {'type':'number'}                             | 1d
            {'type':'number'}                             | " "
            {'type':'boolean'}                            | maybe
            {'type':'string','maxLength':2}               | abc
            {'type':'string','minLength':2}               | a
            {'type':'string','enum':['a','b']}            | c
            {'type':'array','items':{'enum':['a','b']}}   | c
            {'type':'array','minItems':2}                 | a
            {'type':'string','format':'date'}             | 2026-13-01
            {'type':'string','format':'date-time'}        | 2026-11-26
            {'type':'string','format':'uri'}              | no address
            """)
    void answer_thatDoesNotFit_isRefused(String property, String answer) {
        assertThat(form("{'f':" + property + "}", "['f']").misfit(answer, Optional.empty()))
                .hasValueSatisfying(why -> assertThat(why).startsWith("\"f\" must be "));
    }

    @Test
    void boundsThatAreNotNumbers_areIgnored() {
        InputForm form = form("{'f':{'type':'number','minimum':'x','maximum':null,'minLength':{}}}", "['f']");

        assertThat(form.misfit("1", Optional.empty())).isEqualTo(FITS);
    }

    @Test
    void hugeNumbers_areCompared() {
        InputForm form = form("{'f':{'type':'number','maximum':1" + "0".repeat(900) + "}}", "['f']");

        assertThat(form.misfit("", Optional.of(json("{'f':1" + "0".repeat(900) + "}"))))
                .isEqualTo(FITS);
        assertThat(form.misfit("", Optional.of(json("{'f':2" + "0".repeat(900) + "}"))))
                .isPresent();
    }

    @Test
    void fields_areChecked_byName() {
        InputForm form = form("{'a':{'type':'integer','default':7},'b':{'type':'string'}}", "['b']");

        assertThat(form.misfit("text", Optional.empty()))
                .contains("the answer must be a JSON object with the fields a, b");
        assertThat(form.misfit("", Optional.of(json("{'a':1}")))).contains("the field \"b\" is missing");
        assertThat(form.misfit("", Optional.of(json("{'b':'x','c':1}"))))
                .contains("the form has no field \"c\"; it has a, b");
        assertThat(form.misfit("", Optional.of(json("{'b':null}")))).contains("\"b\" must be text");
        assertThat(form.response(FormAction.ACCEPT, "", Optional.of(json("{'b':'x'}"))))
                .isEqualTo(json("{'action':'accept','content':{'a':7,'b':'x'}}"));
    }

    @Test
    void formWithoutFields_isAConfirmation() {
        InputForm form = form("{}", "[]");

        assertThat(form.misfit("ok", Optional.empty())).isEqualTo(FITS);
        assertThat(form.response(FormAction.ACCEPT, "ok", Optional.empty()))
                .isEqualTo(json("{'action':'accept','content':{}}"));
        assertThat(form.response(FormAction.CANCEL, "", Optional.empty())).isEqualTo(json("{'action':'cancel'}"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{}",
                "{'message':1}",
                "{'message':'M','mode':'url'}",
                "{'message':'M','mode':'url','url':'javascript:alert(1)'}",
                "{'message':'M','mode':'url','url':'file:///etc/passwd'}",
                "{'message':'M','requestedSchema':{'properties':{'a':{'type':'object'}}}}",
                "{'message':'M','requestedSchema':{'properties':{'a':1}}}",
                "{'message':'M','requestedSchema':{'properties':{'a':{'type':['string','null']}}}}",
                "{'message':'M','requestedSchema':{'properties':{'a':{'type':'string'}},'required':['b']}}"
            })
    void unanswerableRequest_isAProblem(String request) {
        assertThat(new InputForm(json(request)).problem()).isPresent();
    }

    /** The part before an @ is a user's name, and shows another host than the one that is opened. */
    @Test
    void page_isShownWithTheHostThatIsOpened() {
        assertThat(new InputForm(json("{'message':'Pay','mode':'url','url':'https://bank.example@evil.example/x'}"))
                        .words("t"))
                .contains("Open this page of evil.example yourself");
        assertThat(new InputForm(json("{'message':'Pay','mode':'url','url':'https://evil.example\\\\@bank.example/'}"))
                        .problem())
                .isPresent();
    }
}
