package dev.waymark.tool;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.agent.ApprovalRule;
import dev.waymark.agent.ToolSpec;
import dev.waymark.contract.PayloadJson;
import dev.waymark.conversation.value.Budget;
import dev.waymark.conversation.value.CallVerdict;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Spent;
import dev.waymark.conversation.value.UntrustedWords;
import dev.waymark.conversation.value.Usage;
import dev.waymark.conversation.value.Usd;
import dev.waymark.conversation.value.WordSource;
import java.math.BigDecimal;
import java.time.Instant;
import java.time.ZoneId;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RuleCheckTest {
    private static final Instant AT = Instant.parse("2026-11-25T22:30:00Z");
    private static final Spent DOLLAR = new Spent(new Usage(900, 100), Optional.of(Usd.of(BigDecimal.ONE)));
    private static final ApprovalRule DENY = ApprovalRule.deny("no");
    private static final ApprovalRule ALLOW = ApprovalRule.allow("yes");

    private static JudgedCall call(String args, Optional<String> owner, Spent spent, int requested) throws Exception {
        return new JudgedCall(
                "charge",
                PayloadJson.MAPPER.readValue(args, Json.class),
                owner,
                spent,
                requested,
                AT,
                Optional.empty());
    }

    private static JudgedCall call(String args) throws Exception {
        return call(args, Optional.empty(), Spent.NOTHING, 1);
    }

    private static CallVerdict verdict(JudgedCall call, ApprovalRule... rules) {
        return RuleCheck.verdict(ToolSpec.java("charge").rules(List.of(rules)).build(), call);
    }

    private static CallVerdict.Then then(JudgedCall call, ApprovalRule... rules) {
        return verdict(call, rules).then();
    }

    private static Json schema(String json) throws Exception {
        return PayloadJson.MAPPER.readValue(json, Json.class);
    }

    @Test
    void firstRuleThatHolds_decides() throws Exception {
        ApprovalRule small = ALLOW.when(schema("{\"properties\":{\"usd\":{\"maximum\":50}},\"required\":[\"usd\"]}"));
        ApprovalRule huge = DENY.when(schema("{\"properties\":{\"usd\":{\"minimum\":1000}}}"));

        assertThat(verdict(call("{\"usd\":7}"), small, huge))
                .isEqualTo(
                        new CallVerdict(CallVerdict.Then.ALLOW, Optional.of(1), Optional.of("yes"), Optional.empty()));
        assertThat(verdict(call("{\"usd\":1000}"), small, huge).rule()).contains(2);
        assertThat(then(call("{\"usd\":100}"), small, huge)).isEqualTo(CallVerdict.Then.ASK);
        assertThat(then(call("{}"), small)).isEqualTo(CallVerdict.Then.ASK);
        assertThat(then(call("{\"usd\":100}"), small, ALLOW)).isEqualTo(CallVerdict.Then.ALLOW);
    }

    @Test
    void rule_withOwners_holdsForAnyOfThem() throws Exception {
        ApprovalRule rule = ALLOW.ownedBy("ann", "bob");

        assertThat(verdict(call("{}", Optional.of("bob"), Spent.NOTHING, 1), rule))
                .isEqualTo(new CallVerdict(
                        CallVerdict.Then.ALLOW,
                        Optional.of(1),
                        Optional.of("yes"),
                        Optional.of(Json.of(Map.of("owner", "bob")))));
        assertThat(then(call("{}", Optional.of("eve"), Spent.NOTHING, 1), rule)).isEqualTo(CallVerdict.Then.ASK);
        assertThat(then(call("{}"), rule)).isEqualTo(CallVerdict.Then.ASK);
    }

    @Test
    void requests_beyondTheNumber_areMatched() throws Exception {
        ApprovalRule rule = DENY.requestedOver(3);

        assertThat(then(call("{}", Optional.empty(), Spent.NOTHING, 3), rule, ALLOW))
                .isEqualTo(CallVerdict.Then.ALLOW);
        assertThat(verdict(call("{}", Optional.empty(), Spent.NOTHING, 4), rule, ALLOW)
                        .words())
                .isEqualTo("denied by rule 1: no {\"requested\": 4}");
    }

    @Test
    void spending_beyondTheAmount_isMatched() throws Exception {
        ApprovalRule dollars =
                DENY.spentOver(new Budget(Optional.of(Usd.of(new BigDecimal("0.99"))), Optional.empty()));
        ApprovalRule tokens = DENY.spentOver(new Budget(Optional.empty(), Optional.of(1000L)));

        assertThat(then(call("{}", Optional.empty(), DOLLAR, 1), dollars, ALLOW))
                .isEqualTo(CallVerdict.Then.DENY);
        assertThat(then(call("{}"), dollars, ALLOW)).isEqualTo(CallVerdict.Then.ALLOW);
        assertThat(then(call("{}", Optional.empty(), DOLLAR, 1), tokens, ALLOW)).isEqualTo(CallVerdict.Then.ALLOW);
    }

    @Test
    void spendingWithoutAPrice_asks() throws Exception {
        ApprovalRule dollars = DENY.spentOver(new Budget(Optional.of(Usd.of(BigDecimal.TEN)), Optional.empty()));
        Spent unpriced = new Spent(new Usage(5, 5), Optional.empty());

        assertThat(verdict(call("{}", Optional.empty(), unpriced, 1), dollars, ALLOW)
                        .words())
                .contains("asks by rule 1: it can't be evaluated: the price of what the thread has spent is not known");
    }

    @Test
    void hours_areInTheZone_andMayIncludeMidnight() throws Exception {
        ZoneId vienna = ZoneId.of("Europe/Vienna"); // 23:30

        assertThat(then(call("{}"), ALLOW.between(22, 6, vienna))).isEqualTo(CallVerdict.Then.ALLOW);
        assertThat(then(call("{}"), ALLOW.between(8, 23, vienna))).isEqualTo(CallVerdict.Then.ASK);
        assertThat(then(call("{}"), ALLOW.between(23, 24, vienna))).isEqualTo(CallVerdict.Then.ALLOW);
        assertThat(then(call("{}"), ALLOW.between(22, 23, ZoneId.of("UTC")))).isEqualTo(CallVerdict.Then.ALLOW);
    }

    /** A newer version, or a history that somebody changed, may have such rules. None of them may let a call run. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"then\":\"allow\",\"weekday\":\"monday\"}",
                "{\"then\":\"perhaps\"}",
                "{}",
                "[]",
                "{\"then\":\"allow\",\"when\":\"always\"}",
                "{\"then\":\"allow\",\"when\":{\"type\":5}}",
                "{\"then\":\"allow\",\"when\":{}}",
                "{\"then\":\"allow\",\"when\":{\"type\":\"object\",\"title\":\"any\"}}",
                "{\"then\":\"allow\",\"when\":{\"properties\":{}}}",
                "{\"then\":\"allow\",\"when\":{\"a\":{\"maximum\":2}}}",
                "{\"then\":\"allow\",\"when\":{\"properties\":{\"a\":{\"maximun\":0}}}}",
                "{\"then\":\"allow\",\"when\":{\"properties\":{\"a\":{\"title\":\"A\"}}}}",
                "{\"then\":\"deny\",\"when\":{\"a\":{\"maximum\":0}}}",
                "{\"then\":\"allow\",\"when\":{\"pattern\":\"(\"}}",
                "{\"then\":\"allow\",\"when\":{\"$ref\":\"#/no/such\"}}",
                "{\"then\":\"allow\",\"when\":{\"$ref\":\"#\"}}",
                "{\"then\":\"allow\",\"hours\":\"8-18\"}",
                "{\"then\":\"allow\",\"hours\":\"8-18\",\"zone\":\"Nowhere\"}",
                "{\"then\":\"allow\",\"hours\":\"8-77\",\"zone\":\"UTC\"}",
                "{\"then\":\"allow\",\"requested_over\":\"1\"}",
                "{\"then\":\"allow\",\"requested_over\":-1}",
                "{\"then\":\"allow\",\"spent_over\":{\"eur\":1}}",
                "{\"then\":\"allow\",\"owner\":[1]}",
                "{\"then\":\"allow\",\"reason\":7}"
            })
    void ruleThatCannotBeEvaluated_asks(String stored) throws Exception {
        ApprovalRule rule = PayloadJson.MAPPER.readValue(stored, ApprovalRule.class);

        CallVerdict verdict = verdict(call("{\"a\":1}"), rule, ALLOW);

        assertThat(verdict.then()).isEqualTo(CallVerdict.Then.ASK);
        assertThat(verdict.rule()).contains(1);
        assertThat(verdict.reason().orElseThrow()).startsWith("it can't be evaluated: ");
    }

    /** {@code maximum} does not constrain text, and {@code properties} does not constrain missing arguments. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '^', textBlock = """
            {"a":{"maximum":2000}}                               | {"a":7}            | ALLOW
            {"a":{"maximum":2000}}                               | {"a":7,"b":"x"}    | ALLOW
            {"a":{"maximum":2000}}                               | {}                 | ASK
            {"a":{"maximum":2000}}                               | {"A":7}            | ASK
            {"a":{"maximum":2000}}                               | {"a":"99999999"}   | ASK
            {"a":{"maximum":2000}}                               | {"a":null}         | ASK
            {"a":{"maximum":2000}}                               | {"a":[99999]}      | ASK
            {"a":{"maximum":2000,"not":{"const":13}}}            | {"a":"99999999"}   | ASK
            {"a":{"maximum":2000},"b":{"pattern":"^x"}}          | {"a":7}            | ASK
            {"a":{"maximum":2000},"b":{"pattern":"^x"}}          | {"a":7,"b":5}      | ASK
            {"a":{"maximum":2000},"b":{"pattern":"^x"}}          | {"a":7,"b":"xy"}   | ALLOW
            {"a":{"maximum":2000,"minLength":3}}                 | {"a":"abc"}        | ALLOW
            {"a":{"items":{"const":1}}}                          | {"a":[1]}          | ALLOW
            {"a":{"items":{"const":1}}}                          | {"a":{"b":1}}      | ASK
            {"a":{"required":["b"]}}                             | {"a":{"b":1}}      | ALLOW
            {"a":{"required":["b"]}}                             | {"a":"b"}          | ASK
            {"a":{"type":"string"}}                              | {"a":"x"}          | ALLOW
            {"a":{"enum":["x",null]}}                            | {"a":null}         | ALLOW
            {"a":{"const":true}}                                 | {"a":true}         | ALLOW
            {"a":{"anyOf":[{"maximum":5},{"const":"x"}]}}        | {"a":"x"}          | ALLOW
            {"a":false}                                          | {"b":1}            | ASK
            {"a":{"maximum":2000},"b":{}}                        | {"a":7,"b":[]}     | ALLOW
            {"a":{"maximum":2000},"b":{}}                        | {"a":7}            | ASK
            """)
    void allow_holdsOnlyForArgumentsThatItConstrains(String properties, String args, CallVerdict.Then then)
            throws Exception {
        ApprovalRule rule = ALLOW.when(schema("{\"properties\":" + properties + "}"));

        assertThat(then(call(args), rule)).isEqualTo(then);
    }

    @Test
    void denial_followsJsonSchema() throws Exception {
        ApprovalRule rule = DENY.when(schema("{\"properties\":{\"a\":{\"minimum\":1000}}}"));

        assertThat(then(call("{}"), rule, ALLOW)).isEqualTo(CallVerdict.Then.DENY);
        assertThat(then(call("{\"a\":\"x\"}"), rule, ALLOW)).isEqualTo(CallVerdict.Then.DENY);
        assertThat(then(call("{\"a\":1}"), rule, ALLOW)).isEqualTo(CallVerdict.Then.ALLOW);
    }

    @Test
    void unknownArgument_isAProblem_ifTheToolsSchemaIsClosed() throws Exception {
        Json closed = schema("{\"type\":\"object\",\"properties\":{\"cents\":{}},\"additionalProperties\":false}");
        ApprovalRule rule = ALLOW.when(schema("{\"properties\":{\"cent\":{\"maximum\":5}}}"));
        ToolSpec tool = ToolSpec.java("charge")
                .describedAs("", closed)
                .rules(List.of(rule, ALLOW))
                .build();

        assertThat(RuleCheck.problems(tool))
                .containsExactly("rule 1: when can't be used: the tool has no argument cent, only [cents]");
        assertThat(RuleCheck.verdict(tool, call("{\"cent\":1}")).words())
                .isEqualTo("asks by rule 1: it can't be evaluated: the tool has no argument cent, only [cents]");
        assertThat(RuleCheck.problem(rule, Json.of(Map.of("type", "object")))).isEmpty();
        assertThat(RuleCheck.problem(ALLOW.when(schema("{\"required\":[\"cent\"]}")), closed))
                .isPresent();
    }

    @Test
    void grant_withAnUnconstrainedSchema_matchesNothing() throws Exception {
        Json args = schema("{\"a\":1}");

        assertThat(RuleCheck.isLike(Json.EMPTY_OBJECT, Json.EMPTY_OBJECT, args)).isFalse();
        assertThat(RuleCheck.isLike(schema("{\"a\":1}"), Json.EMPTY_OBJECT, args))
                .isFalse();
        assertThat(RuleCheck.isLike(schema("{\"properties\":{\"a\":{\"maximum\":1}}}"), Json.EMPTY_OBJECT, args))
                .isTrue();
        assertThat(RuleCheck.isLike(
                        schema("{\"properties\":{\"a\":{\"maximum\":1}}}"), Json.EMPTY_OBJECT, schema("{\"a\":\"9\"}")))
                .isFalse();
    }

    @Test
    void patternWithTooManySteps_asks() throws Exception {
        ApprovalRule slow = DENY.when(schema("{\"properties\":{\"a\":{\"pattern\":\"^(a+)+$\"}}}"));

        assertThat(then(call("{\"a\":\"" + "a".repeat(5_000) + "!\"}"), slow, ALLOW))
                .isEqualTo(CallVerdict.Then.ASK);
    }

    @Test
    void rule_isStoredUnchanged() throws Exception {
        ApprovalRule rule = ApprovalRule.deny("no").requestedOver(3).between(8, 18, ZoneId.of("UTC"));

        String json = PayloadJson.MAPPER.writeValueAsString(rule);

        assertThat(PayloadJson.MAPPER.readValue(json, ApprovalRule.class)).isEqualTo(rule);
        assertThat(rule.stored().canonical())
                .isEqualTo(
                        "{\"hours\": \"8-18\", \"reason\": \"no\", \"requested_over\": 3, \"then\": \"deny\", \"zone\": \"UTC\"}");
    }

    private static JudgedCall afterReading(Optional<UntrustedWords> words) {
        return new JudgedCall("charge", Json.EMPTY_OBJECT, Optional.empty(), Spent.NOTHING, 1, AT, words);
    }

    @Test
    void untrustedWords_ofTheRightTime_makeARuleHold() {
        ApprovalRule ever = DENY.whenUntrusted(ApprovalRule.Untrusted.EVER);
        ApprovalRule since = DENY.whenUntrusted(ApprovalRule.Untrusted.SINCE_MESSAGE);
        UntrustedWords now = UntrustedWords.NONE.from(WordSource.call("p", "page"));

        assertThat(then(afterReading(Optional.of(UntrustedWords.NONE)), ever, since, ALLOW))
                .isEqualTo(CallVerdict.Then.ALLOW);
        assertThat(then(afterReading(Optional.of(now)), since, ALLOW)).isEqualTo(CallVerdict.Then.DENY);
        assertThat(then(afterReading(Optional.of(now.afterMessage())), since, ALLOW))
                .isEqualTo(CallVerdict.Then.ALLOW);
        assertThat(verdict(afterReading(Optional.of(now.afterMessage())), ever).words())
                .isEqualTo("denied by rule 1: no {\"untrusted\": \"ever\"}");
    }

    @Test
    void unknownWords_andUnknownValues_ask() {
        ApprovalRule ever = DENY.whenUntrusted(ApprovalRule.Untrusted.EVER);
        assertThat(verdict(afterReading(Optional.empty()), ever, ALLOW).words())
                .contains("asks by rule 1")
                .contains("the thread does not know which words are untrusted");
        assertThat(new ApprovalRule(Json.of(Map.of("then", "deny", "when_untrusted", "later"))).problem())
                .contains("when_untrusted must be ever or since_message");
    }
}
