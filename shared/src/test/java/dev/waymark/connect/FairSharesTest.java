package dev.waymark.connect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.waymark.contract.thread.StartInput;
import dev.waymark.thread.ThreadOwner;
import io.temporal.common.Priority;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class FairSharesTest {
    private static final StartInput INPUT = StartInput.of("billing");

    private static StartInput of(ThreadOwner owner) {
        return INPUT.ownedBy(Optional.of(owner));
    }

    private static FairShares weighted(String text) {
        return FairShares.of(Map.of(FairShares.VARIABLE, text));
    }

    private static Priority share(FairShares shares, StartInput input) {
        return shares.of(input.owner(), input.agent());
    }

    @Test
    void share_isThatOfTheOwner_orOfTheAgent() {
        FairShares shares = FairShares.of(Map.of());
        Priority ann = share(shares, of(ThreadOwner.ofSubject("ann")));

        assertThat(ann.getFairnessWeight()).isEqualTo(1);
        assertThat(share(shares, of(ThreadOwner.ofSubject("ann")))).isEqualTo(ann);
        assertThat(share(shares, of(ThreadOwner.ofSubject("bob")))).isNotEqualTo(ann);
        assertThat(share(shares, of(ThreadOwner.ofGroup("ann")))).isNotEqualTo(ann);
        assertThat(share(shares, INPUT).getFairnessKey()).isEqualTo("agent:billing");
        assertThat(share(shares, StartInput.of("clerk").ownedBy(Optional.of(ThreadOwner.ofSubject("ann")))))
                .isEqualTo(ann);
    }

    /** Keys are not encrypted, and the server refuses longer ones. */
    @ParameterizedTest
    @ValueSource(
            strings = {"ann@example.com", "an owner with a name that is longer than a key of the server may be, äöü"})
    void key_containsNoPersonalName_andIsShortEnough(String name) {
        for (StartInput input : new StartInput[] {
            of(ThreadOwner.ofSubject(name)), of(ThreadOwner.ofGroup(name)), StartInput.of(name.repeat(2))
        }) {
            String key = share(FairShares.of(Map.of()), input).getFairnessKey();

            assertThat(key.getBytes(StandardCharsets.UTF_8)).hasSizeLessThanOrEqualTo(64);
            if (input.owner().isPresent()) {
                assertThat(key).doesNotContain("ann", "owner");
            }
        }
    }

    @Test
    void weight_ofAnOwnerWithSpecialCharacters_isFound() {
        FairShares shares = weighted(" subject:ann=b=2.5, group:support=4 ,agent:batch=0.001");

        assertThat(share(shares, of(ThreadOwner.ofSubject("ann=b"))).getFairnessWeight())
                .isEqualTo(2.5f);
        assertThat(share(shares, of(ThreadOwner.ofGroup("support"))).getFairnessWeight())
                .isEqualTo(4);
        assertThat(share(shares, of(ThreadOwner.ofSubject("support"))).getFairnessWeight())
                .isEqualTo(1);
        assertThat(share(shares, StartInput.of("batch")).getFairnessWeight()).isEqualTo(0.001f);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "ann=2",
                "subject:=2",
                "subject:ann",
                "subject:ann=",
                "subject:ann=two",
                "subject:ann=0",
                "subject:ann=-1",
                "subject:ann=1001",
                "subject:ann=NaN",
                "subject:ann=Infinity",
                "subject:ann=2,,agent:a=1"
            })
    void weights_invalid_areRefusedWithInstructions(String text) {
        assertThatThrownBy(() -> weighted(text))
                .isInstanceOf(FairShares.Unreadable.class)
                .hasMessageContaining("Write subject:NAME=WEIGHT");
    }

    @ParameterizedTest
    @CsvSource({
        "1.28.4, false",
        "1.29.0, true",
        "1.30.0-rc1, true",
        "2.0.0, true",
        "0.9.1, false",
        "'', false",
        "cloud, true"
    })
    void server_oldOrInMemory_hasNoFairness(String version, boolean may) {
        assertThat(FairShares.areKnownTo(new ServerVersion(version))).isEqualTo(may);
    }
}
