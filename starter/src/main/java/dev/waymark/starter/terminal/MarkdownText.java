package dev.waymark.starter.terminal;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jline.utils.AttributedString;
import org.jline.utils.AttributedStringBuilder;
import org.jline.utils.AttributedStyle;

/** Styles a small part of Markdown: headings, bold text and code. Everything else stays unchanged. */
final class MarkdownText {
    private static final Pattern INLINE = Pattern.compile("\\*\\*([^*]+)\\*\\*|`([^`]+)`");
    private static final Pattern HEADING = Pattern.compile("#{1,6} (.+)");
    private static final String FENCE = "```";
    private static final AttributedStyle BOLD = AttributedStyle.DEFAULT.bold();
    private static final AttributedStyle CODE = AttributedStyle.DEFAULT.foreground(AttributedStyle.GREEN);

    private MarkdownText() {}

    static List<AttributedString> lines(String text) {
        List<AttributedString> lines = new ArrayList<>();
        boolean isCode = false;
        for (String line : text.split("\n", -1)) {
            if (line.strip().startsWith(FENCE)) {
                isCode = !isCode;
                lines.add(new AttributedString(line, AttributedStyle.DEFAULT.faint()));
            } else {
                lines.add(isCode ? new AttributedString(line, CODE) : line(line));
            }
        }
        return lines;
    }

    private static AttributedString line(String line) {
        Matcher heading = HEADING.matcher(line);
        if (heading.matches()) {
            return new AttributedString(heading.group(1), BOLD.underline());
        }
        AttributedStringBuilder styled = new AttributedStringBuilder();
        Matcher inline = INLINE.matcher(line);
        int end = 0;
        while (inline.find()) {
            styled.append(line, end, inline.start());
            boolean isBold = inline.group(1) != null;
            styled.styled(isBold ? BOLD : CODE, isBold ? inline.group(1) : inline.group(2));
            end = inline.end();
        }
        return styled.append(line, end, line.length()).toAttributedString();
    }
}
