package dev.waymark.rehearsal;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LikenessTest {
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            Your table is booked.           | Your  table is\\tbooked.                     | EQUAL
            Your table for two at the Bear is booked for Friday at 8. | Your table for two at the Bear is now booked for Friday at 8. | NEAR
            Your table for two at the Bear is booked for Friday at 8. | Your table for two at the Bear is booked for Friday at 9. | OTHER
            It costs 100 Euro altogether, with breakfast and taxes    | It costs 1000 Euro altogether, with breakfast and taxes   | OTHER
            Booked.                         | I can't book that.                          | OTHER
            ''                              | Booked.                                     | OTHER
            你好                             | 再见                                         | OTHER
            """)
    void texts_areCompared(String one, String other, Likeness expected) {
        assertThat(Likeness.of(one, other.replace("\\t", "\t"))).isEqualTo(expected);
        assertThat(Likeness.of(other.replace("\\t", "\t"), one)).isEqualTo(expected);
    }
}
