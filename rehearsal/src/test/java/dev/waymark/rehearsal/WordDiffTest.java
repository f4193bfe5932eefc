package dev.waymark.rehearsal;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class WordDiffTest {
    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '^', textBlock = """
            It costs 15.00 euros. | It costs 150.00 euros.   | It costs [15.00] euros.
            It is paid.           | It is paid.              | It is paid.
            We are open.          | Our doors are open.      | [We] are open.
            Our red doors open.   | They open.               | [Our red doors ]open.
            Hi                    | ^^                       | [Hi]
            ^^                    | Hi                       | ^^
            a b a b               | b a                      | [a ]b a[ b]
            """)
    void wordsThatTheOtherTextDoesNotHaveThere_differ(String text, String other, String expected) {
        assertThat(WordDiff.of(text, other).stream()
                        .map(piece -> piece.differs() ? "[" + piece.text() + "]" : piece.text())
                        .collect(Collectors.joining()))
                .isEqualTo(expected);
    }

    @Test
    void wordsOfBothTexts_areNotOnlyInOne() {
        assertThat(WordDiff.onlyIn("I have paid 1001.", "Invoice 1001 is paid."))
                .isEqualTo(List.of(List.of("I", "have"), List.of("Invoice", "is")));
    }
}
