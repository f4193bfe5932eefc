package dev.waymark.thread;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.contract.PayloadJson;
import dev.waymark.contract.thread.StartInput;
import dev.waymark.conversation.fact.PersonFact;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class ForkSourceTest {
    @Test
    void startInput_withAndWithoutForkSource_isRead() throws Exception {
        for (String json : List.of("{'agent':'a'}", "{'agent':'a','forkedFrom':null}")) {
            assertThat(read(json).forkedFrom()).as(json).isEmpty();
        }
        assertThat(read("{'agent':'a','forkedFrom':{'thread':'t','version':3,'later':true}}")
                        .forkedFrom())
                .isEqualTo(Optional.of(new ForkSource("t", 3, Optional.empty())));
    }

    @Test
    void startInputWithoutForkSource_isStoredAsBefore_andTheNextRunKeepsASource() throws Exception {
        assertThat(PayloadJson.MAPPER.writeValueAsString(StartInput.of("a"))).doesNotContain("forkedFrom");

        StartInput fork = StartInput.of("a")
                .saying(PersonFact.UserSpoke.message("Hi"))
                .forkedFrom(new ForkSource("t", 3, Optional.of("run/e9")))
                .carrying("packed");
        assertThat(PayloadJson.MAPPER.writeValueAsString(fork))
                .contains("\"forkedFrom\":{\"thread\":\"t\",\"version\":3,\"at\":\"run/e9\"}");
    }

    private static StartInput read(String json) throws Exception {
        return PayloadJson.MAPPER.readValue(json.replace('\'', '"'), StartInput.class);
    }
}
