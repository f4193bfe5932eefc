package dev.waymark.worker.yaml;

import dev.waymark.conversation.value.Json;
import java.io.IOException;
import java.io.InputStream;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.api.lowlevel.Compose;
import org.snakeyaml.engine.v2.exceptions.Mark;
import org.snakeyaml.engine.v2.exceptions.MarkedYamlEngineException;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;
import org.snakeyaml.engine.v2.nodes.MappingNode;
import org.snakeyaml.engine.v2.nodes.Node;
import org.snakeyaml.engine.v2.nodes.NodeTuple;
import org.snakeyaml.engine.v2.nodes.ScalarNode;
import org.snakeyaml.engine.v2.nodes.SequenceNode;
import org.snakeyaml.engine.v2.nodes.Tag;

/**
 * A value in a YAML file, with its line and field name. YAML 1.2: {@code yes} is a string, not true.
 *
 * <pre>{@code
 * YamlFields fields = YamlValue.read(Path.of("agents/billing.yaml")).fields();
 * String model = fields.require("model").text();
 * fields.end(); // throws: agents/billing.yaml:3: modle: unknown field
 * }</pre>
 */
public final class YamlValue {

    /** Limits the nodes after aliases are expanded: a few lines of aliases can expand to gigabytes. */
    private static final int MOST_NODES = 100_000;

    private static final int MOST_CODE_POINTS = 4 * 1024 * 1024;
    private static final int MOST_BYTES = 4 * MOST_CODE_POINTS;
    /** Ten years. The server refuses far longer times only when a thread already needs them. */
    private static final Duration LONGEST = Duration.ofDays(3_650);

    private static final Pattern KIBIBYTES = Pattern.compile("([0-9]{1,6})KiB");

    private static final Pattern DURATION = Pattern.compile("([0-9]{1,9})(ms|s|m|h)");

    private final String file;
    private final String field;
    private final Node node;
    private final YamlProblems problems;

    private YamlValue(String file, String field, Node node, YamlProblems problems) {
        this.file = file;
        this.field = field;
        this.node = node;
        this.problems = problems;
    }

    /**
     * Reads a file that holds one document.
     *
     * @throws YamlProblem if the file is unreadable, not UTF-8, or not YAML
     */
    public static YamlValue read(Path path) throws YamlProblem {
        String file = path.toString();
        try (InputStream in = Files.newInputStream(path)) {
            byte[] bytes = in.readNBytes(MOST_BYTES + 1);
            if (bytes.length > MOST_BYTES) {
                throw new YamlProblem(file, 1, "", "larger than " + MOST_BYTES + " bytes");
            }
            String text = StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes))
                    .toString();
            return parse(file, text);
        } catch (NoSuchFileException e) {
            throw new YamlProblem(file, 1, "", "no such file");
        } catch (CharacterCodingException e) {
            throw new YamlProblem(file, 1, "", "not UTF-8");
        } catch (IOException e) {
            throw new YamlProblem(file, 1, "", "not readable");
        }
    }

    /** Parses text as the content of a file of this name. */
    public static YamlValue parse(String file, String text) throws YamlProblem {
        LoadSettings settings = LoadSettings.builder()
                .setLabel(file)
                .setCodePointLimit(MOST_CODE_POINTS)
                .build();
        try {
            Iterator<Node> documents =
                    new Compose(settings).composeAllFromString(text).iterator();
            if (!documents.hasNext()) {
                throw new YamlProblem(file, 1, "", "is empty");
            }
            YamlValue first = new YamlValue(file, "", documents.next(), new YamlProblems());
            if (documents.hasNext()) {
                throw new YamlValue(file, "", documents.next(), first.problems)
                        .problem("expected one document, found another");
            }
            first.count(first.node, 0);
            return first;
        } catch (MarkedYamlEngineException e) {
            int line = e.getProblemMark().map(Mark::getLine).orElse(0) + 1;
            throw new YamlProblem(file, line, "", "not YAML: " + e.getProblem());
        } catch (YamlEngineException e) {
            throw new YamlProblem(file, 1, "", "not YAML: " + e.getMessage());
        } catch (StackOverflowError e) {
            throw new YamlProblem(file, 1, "", "nested too deeply");
        }
    }

    public String file() {
        return file;
    }

    /** Counted from 1. */
    public int line() {
        return line(node);
    }

    /** The field's path, such as {@code tools[1].timeout}; empty for the whole file. */
    public String field() {
        return field;
    }

    /** The problems of the file that were found so far. */
    public YamlProblems problems() {
        return problems;
    }

    /** Reads this value. Empty if that adds to the problems of the file. */
    public <T> Optional<T> read(YamlProblems.Reading<T> reading) {
        return problems.check(() -> reading.of(this));
    }

    public YamlProblem problem(String words) {
        return new YamlProblem(file, line(), field, words);
    }

    /** The fields of a mapping, without those that a schema has refused. */
    public YamlFields fields() throws YamlProblem {
        if (!(node instanceof MappingNode mapping)) {
            throw problem("expected fields, found " + kind());
        }
        Map<String, YamlValue> fields = new LinkedHashMap<>();
        for (NodeTuple tuple : mapping.getValue()) {
            String name = key(tuple);
            if (fields.put(name, new YamlValue(file, path(name), tuple.getValueNode(), problems)) != null) {
                throw new YamlProblem(file, line(tuple.getKeyNode()), path(name), "duplicate field");
            }
        }
        fields.values().removeIf(value -> problems.isSettled(value.field));
        return new YamlFields(this, fields);
    }

    public List<YamlValue> items() throws YamlProblem {
        if (!(node instanceof SequenceNode sequence)) {
            throw problem("expected a list, found " + kind());
        }
        List<YamlValue> items = new ArrayList<>();
        for (Node item : sequence.getValue()) {
            items.add(new YamlValue(file, field + "[" + items.size() + "]", item, problems));
        }
        return items;
    }

    /** Reads all items. Throws all their problems at once. */
    public <T> List<T> items(YamlProblems.Reading<T> reading) throws YamlProblem {
        YamlProblems problems = new YamlProblems();
        List<T> read = new ArrayList<>();
        for (YamlValue item : items()) {
            problems.check(() -> reading.of(item)).ifPresent(read::add);
        }
        problems.end();
        return read;
    }

    /** Reads all fields of a mapping. Throws all problems of the fields at once. */
    public <T> Map<String, T> entries(YamlProblems.EntryReading<T> reading) throws YamlProblem {
        YamlProblems problems = new YamlProblems();
        Map<String, T> read = new LinkedHashMap<>();
        fields().takeAll()
                .forEach((name, value) ->
                        problems.check(() -> reading.of(name, value)).ifPresent(entry -> read.put(name, entry)));
        problems.end();
        return read;
    }

    public String text() throws YamlProblem {
        return scalar(Tag.STR, "text");
    }

    /** Text that is not blank. */
    public String words() throws YamlProblem {
        String text = text();
        if (text.isBlank()) {
            throw problem("is empty");
        }
        return text;
    }

    /** Text that is one of these words. */
    public String oneOf(String... words) throws YamlProblem {
        String text = text();
        if (!List.of(words).contains(text)) {
            throw problem("expected " + String.join(" or ", words) + ", found " + text);
        }
        return text;
    }

    public boolean isList() {
        return node instanceof SequenceNode;
    }

    public boolean isMapping() {
        return node instanceof MappingNode;
    }

    public boolean flag() throws YamlProblem {
        return Boolean.parseBoolean(scalar(Tag.BOOL, "true or false"));
    }

    public int integer(int least) throws YamlProblem {
        return (int) whole(least, Integer.MAX_VALUE);
    }

    /** A whole number, which may exceed {@code int}. */
    public long whole(long least) throws YamlProblem {
        return whole(least, Long.MAX_VALUE);
    }

    private long whole(long least, long most) throws YamlProblem {
        BigInteger value = new BigInteger(scalar(Tag.INT, "a whole number"));
        if (value.compareTo(BigInteger.valueOf(least)) < 0) {
            throw problem("must be at least " + least + ", found " + value);
        }
        if (value.compareTo(BigInteger.valueOf(most)) > 0) {
            throw problem("too large: " + value);
        }
        return value.longValue();
    }

    /** A number, whole or decimal. */
    public BigDecimal number() throws YamlProblem {
        String text = scalar(node.getTag().equals(Tag.INT) ? Tag.INT : Tag.FLOAT, "a number");
        try {
            return new BigDecimal(text);
        } catch (NumberFormatException e) {
            throw problem("expected a number, found " + text); // YAML accepts .inf and .nan as numbers.
        }
    }

    /** A duration, or {@code 0}, which needs no unit. */
    public Duration durationOrZero() throws YamlProblem {
        boolean isZero = node instanceof ScalarNode scalar && scalar.getValue().equals("0");
        return isZero ? Duration.ZERO : duration();
    }

    /** A duration: {@code 500ms}, {@code 5s}, {@code 2m}, {@code 24h}. */
    public Duration duration() throws YamlProblem {
        if (!(node instanceof ScalarNode scalar)) {
            throw problem("expected a duration such as 500ms, 5s, 2m or 24h, found " + kind());
        }
        Matcher matcher = DURATION.matcher(scalar.getValue());
        if (!matcher.matches()) {
            throw problem("expected a duration such as 500ms, 5s, 2m or 24h, found " + scalar.getValue());
        }
        long amount = Long.parseLong(matcher.group(1));
        Duration duration = switch (matcher.group(2)) {
            case "ms" -> Duration.ofMillis(amount);
            case "s" -> Duration.ofSeconds(amount);
            case "m" -> Duration.ofMinutes(amount);
            default -> Duration.ofHours(amount);
        };
        if (duration.compareTo(LONGEST) > 0) {
            throw problem("must be at most " + LONGEST.toHours() + "h, found " + scalar.getValue());
        }
        return duration;
    }

    /** A size in bytes: {@code 16KiB}. */
    public int size() throws YamlProblem {
        String text = scalar(Tag.STR, "a size such as 16KiB");
        Matcher matcher = KIBIBYTES.matcher(text);
        if (!matcher.matches()) {
            throw problem("expected a size such as 16KiB, found " + text);
        }
        return Integer.parseInt(matcher.group(1)) * 1024;
    }

    public Json json() throws YamlProblem {
        try {
            return Json.of(tree());
        } catch (IllegalArgumentException e) {
            throw problem(String.valueOf(e.getMessage()));
        }
    }

    /** A field by name, or an item by number. A field that is missing has the line of this mapping. */
    YamlValue at(Object element) throws YamlProblem {
        return element instanceof Integer index
                ? items().get(index)
                : fields().take(String.valueOf(element)).orElseGet(() -> child(String.valueOf(element)));
    }

    /** A missing field of this mapping, for a problem's path. */
    YamlValue child(String name) {
        return new YamlValue(file, path(name), node, problems);
    }

    private @Nullable Object tree() throws YamlProblem {
        if (node instanceof MappingNode mapping) {
            Map<String, Object> tree = new LinkedHashMap<>();
            for (NodeTuple tuple : mapping.getValue()) {
                String name = key(tuple);
                if (tree.containsKey(name)) {
                    throw new YamlProblem(file, line(tuple.getKeyNode()), path(name), "duplicate field");
                }
                tree.put(name, new YamlValue(file, path(name), tuple.getValueNode(), problems).tree());
            }
            return tree;
        }
        if (node instanceof SequenceNode) {
            List<@Nullable Object> tree = new ArrayList<>();
            for (YamlValue item : items()) {
                tree.add(item.tree());
            }
            return tree;
        }
        String value = ((ScalarNode) node).getValue();
        Tag tag = node.getTag();
        if (tag.equals(Tag.NULL)) {
            return null;
        }
        if (tag.equals(Tag.BOOL)) {
            return Boolean.valueOf(value);
        }
        if (tag.equals(Tag.INT)) {
            return new BigInteger(value);
        }
        if (tag.equals(Tag.FLOAT)) {
            return number().doubleValue();
        }
        if (tag.equals(Tag.STR)) {
            return value;
        }
        throw problem("a tag is not allowed here: " + tag.getValue());
    }

    private String scalar(Tag tag, String expected) throws YamlProblem {
        if (node instanceof ScalarNode scalar && node.getTag().equals(tag)) {
            return scalar.getValue();
        }
        throw problem("expected " + expected + ", found " + kind());
    }

    /** The value in a message: cut, and in words if it is not text, a number or a flag. */
    String kind() {
        if (node instanceof MappingNode) {
            return "fields";
        }
        if (node instanceof SequenceNode) {
            return "a list";
        }
        String value = ((ScalarNode) node).getValue();
        if (node.getTag().equals(Tag.NULL)) {
            return "nothing";
        }
        return value.length() > 40 ? value.substring(0, 40) + "…" : value;
    }

    private String key(NodeTuple tuple) throws YamlProblem {
        if (tuple.getKeyNode() instanceof ScalarNode scalar) {
            return scalar.getValue();
        }
        throw new YamlProblem(file, line(tuple.getKeyNode()), field, "a field's name must be text");
    }

    private int count(Node tree, int before) throws YamlProblem {
        int count = before + 1;
        if (count > MOST_NODES || tree.isRecursive()) {
            throw new YamlProblem(file, line(tree), "", "too large, or contains itself");
        }
        if (tree instanceof MappingNode mapping) {
            for (NodeTuple tuple : mapping.getValue()) {
                count = count(tuple.getValueNode(), count);
            }
        } else if (tree instanceof SequenceNode sequence) {
            for (Node item : sequence.getValue()) {
                count = count(item, count);
            }
        }
        return count;
    }

    private String path(String name) {
        return field.isEmpty() ? name : field + "." + name;
    }

    private static int line(Node node) {
        return Optional.ofNullable(node.getStartMark())
                        .orElse(Optional.empty())
                        .map(Mark::getLine)
                        .orElse(0)
                + 1;
    }
}
