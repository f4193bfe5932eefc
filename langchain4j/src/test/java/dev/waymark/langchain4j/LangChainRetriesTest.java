package dev.waymark.langchain4j;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.langchain4j.model.chat.ChatModel;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Models of unknown later versions of LangChain4j. */
class LangChainRetriesTest {
    /** Keeps the number of retries in a policy instead of a field of its own. */
    static final class Reworked implements ChatModel {
        public static final class Builder {
            public Builder maxRetries(Integer most) {
                return this;
            }
        }

        public static Builder builder() {
            return new Builder();
        }
    }

    static final class Local implements ChatModel {}

    @Test
    void of_modelWithUnreadableRetries_isRefused() {
        assertThatThrownBy(() -> LangChainProvider.of(Map.of("tested", new Reworked())))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("cannot tell whether the model tested retries by itself: " + Reworked.class.getName()
                        + " keeps maxRetries in an unknown way. Use its StreamingChatModel, which never retries");
    }

    @Test
    void of_modelWithoutRetries_isAccepted() {
        LangChainProvider provider = LangChainProvider.of(Map.of("tested", new Local()));

        assertThatCode(() -> provider.check("tested")).doesNotThrowAnyException();
    }
}
