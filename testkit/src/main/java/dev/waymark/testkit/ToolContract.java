package dev.waymark.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.waymark.agent.ToolSpec;
import dev.waymark.conversation.value.Json;
import dev.waymark.tool.Tool;
import dev.waymark.tool.ToolContext;
import dev.waymark.tool.VerifyResult;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * The contract of a {@link Tool}, as tests of what the tool's spec declares. To test what happens when the tool's
 * worker dies, use {@link dev.waymark.testkit.crash.Crash}.
 */
public abstract class ToolContract {
    private static final ToolContext FIRST = new ToolContext("trip", "tu_1", "tool", "key-1");
    private static final ToolContext SECOND = new ToolContext("trip", "tu_2", "tool", "key-2");

    private Tool tool;

    /** Creates the tool under test, which has had no effect yet. */
    protected abstract Tool open() throws Exception;

    /** Returns arguments with which the tool always succeeds. */
    protected abstract Json args();

    /** Returns how often the tool that was opened last has taken effect, counted independently of the tool. */
    protected abstract long effects() throws Exception;

    @BeforeEach
    void openTool() throws Exception {
        tool = open();
    }

    @Test
    void spec_isThatOfAJavaToolAndNeverChanges() throws Exception {
        ToolSpec spec = tool.spec();
        tool.run(args(), FIRST);

        assertThat(spec.name()).matches("[A-Za-z0-9_-]{1,64}");
        assertThat(spec.kind()).isEqualTo(ToolSpec.Kind.JAVA);
        assertThat(tool.spec()).isEqualTo(spec);
    }

    @Test
    void run_hasAResultAndItsEffect() throws Exception {
        assertThat(tool.run(args(), FIRST)).isNotNull();

        assertThat(effects()).isEqualTo(1);
    }

    @Test
    void run_anotherCall_hasAnotherEffect() throws Exception {
        tool.run(args(), FIRST);
        tool.run(args(), SECOND);

        assertThat(effects()).isEqualTo(2);
    }

    @Test
    void run_sameKeyTwice_hasOneEffectIfKeysAreHonored() throws Exception {
        assumeTrue(tool.spec().effects().honoursKey(), "it does not say that it honours keys");
        tool.run(args(), FIRST);
        tool.run(args(), FIRST);

        assertThat(effects()).isEqualTo(1);
    }

    @Test
    void verify_neverRun_doesNotReportLanded() throws Exception {
        assumeTrue(tool.spec().effects().verifies(), "it does not say that it verifies");
        tool.run(args(), FIRST);

        assertThat(tool.verify(args(), SECOND).landed()).isNotEqualTo(Optional.of(true));
    }

    @Test
    void verify_afterRun_doesNotReportNotLanded() throws Exception {
        assumeTrue(tool.spec().effects().verifies(), "it does not say that it verifies");
        tool.run(args(), FIRST);

        assertThat(tool.verify(args(), FIRST).landed()).isNotEqualTo(Optional.of(false));
    }

    @Test
    void verify_repeated_isEqualAndHasNoEffect() throws Exception {
        assumeTrue(tool.spec().effects().verifies(), "it does not say that it verifies");
        tool.run(args(), FIRST);
        VerifyResult verdict = tool.verify(args(), FIRST);

        assertThat(tool.verify(args(), FIRST)).isEqualTo(verdict);
        assertThat(effects()).isEqualTo(1);
    }
}
