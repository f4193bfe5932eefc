package dev.waymark.contract;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Bodies that a person or a program may send, valid and invalid: each field of each verb with many values, and whole
 * bodies that are broken. {@code @{x*257}} stands for 257 times {@code x}.
 */
final class HostileBodies {
    private static final Pattern REPEATED = Pattern.compile("@\\{(.+?)\\*(\\d+)}");

    private static final List<String> VALUES = List.of(
            "null",
            "5",
            "-1",
            "0",
            "1.5",
            "20.0",
            "2147483648",
            "9223372036854775808",
            "1e400",
            "@{9*1100}",
            "true",
            "false",
            "\"\"",
            "\" \\n\"",
            "\"true\"",
            "\"5\"",
            "\"done\"",
            "\"rerun\"",
            "\"a\\u0000b\"",
            "\"\\ud83d\"",
            "\"@{x*256}\"",
            "\"@{x*257}\"",
            "\"@{x*4001}\"",
            "\"@{x*262145}\"",
            "\"@{é*131072}\"",
            "[]",
            "[\"a\"]",
            "{}",
            "{\"cents\":1}",
            "{\"subject\":\"ann\"}",
            "@{{\"x\":*401}1@{}*401}");

    private static final List<String> WHOLE = List.of(
            "",
            "null",
            "[]",
            "{}",
            "\"Hello\"",
            "\"\"",
            "5",
            "1.10",
            "1e400",
            "true",
            "{\"content\":",
            "{\"by\":\"ann\"} {}",
            "{\"by\":\"ann\",\"by\":\"bob\"}",
            "{\"by\":\"ann\",}",
            "{'by':'ann'}",
            "{\"usd\":NaN}",
            "{\"later\":[1],\"by\":\"ann\"}",
            "{\"\\ud83d\":1}",
            "{\"later\":[{\"x\":\"\\udc00\"}]}",
            "@{[*1200}@{]*1200}",
            "\"@{x*262145}\"",
            "{\"later\":\"@{x*1048576}\"}");

    private static final List<String> MESSAGES = List.of(
            "[{\"role\":\"user\",\"content\":\"Hi\"}]",
            "[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"Hi\"}]}]",
            "[{\"role\":\"user\",\"content\":\"Hi\"},{\"role\":\"assistant\",\"content\":[{\"type\":\"tool_use\","
                    + "\"id\":\"t\",\"name\":\"n\"},{\"type\":\"reasoning\",\"text\":\"r\"}]},{\"role\":\"user\","
                    + "\"content\":[{\"type\":\"tool_result\",\"toolUseId\":\"t\",\"content\":\"c\",\"isError\":true}]}]",
            "[{\"role\":\"user\",\"content\":[{\"type\":\"image\",\"url\":\"u\"},{\"type\":\"image_base64\","
                    + "\"data\":\"AA==\",\"mimeType\":\"image/png\"}]}]",
            "[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"a\"},{\"type\":\"text\",\"text\":\"b\"}]}]",
            "[{\"role\":\"user\",\"content\":\"Hi\",\"later\":1}]",
            "[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"Hi\",\"later\":1}]}]",
            "[{\"role\":\"system\",\"content\":\"Hi\"}]",
            "[{\"role\":5,\"content\":\"Hi\"}]",
            "[{\"role\":\"user\"}]",
            "[{\"role\":\"user\",\"content\":[]}]",
            "[{\"role\":\"user\",\"content\":5}]",
            "[{\"role\":\"user\",\"content\":\"@{x*262145}\"}]",
            "[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":5}]}]",
            "[{\"role\":\"user\",\"content\":[{\"type\":\"text\"}]}]",
            "[{\"role\":\"user\",\"content\":[{\"type\":\"hologram\"}]}]",
            "[{\"role\":\"user\",\"content\":[\"Hi\"]}]",
            "[{\"role\":\"assistant\",\"content\":[{\"type\":\"tool_use\",\"id\":7,\"name\":\"n\"}]}]",
            "[{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"toolUseId\":\"t\",\"content\":\"c\","
                    + "\"isError\":1}]}]",
            "[5]",
            "[null]");

    /** A body with the name of its signal, which is also the name of the update and of the operation over HTTP. */
    record Body(String verb, String written) {
        String text() {
            return REPEATED.matcher(written)
                    .replaceAll(
                            match -> Matcher.quoteReplacement(match.group(1).repeat(Integer.parseInt(match.group(2)))));
        }
    }

    /** The fields of a verb with valid values, and the ones that its bodies vary. */
    private record Verb(String name, List<Field> fields) {
        Stream<Body> bodies() {
            List<Body> bodies = new ArrayList<>();
            bodies.add(body(fields));
            WHOLE.forEach(whole -> bodies.add(new Body(name, whole)));
            for (int i = 0; i < fields.size(); i++) {
                List<Field> others = new ArrayList<>(fields);
                Field varied = others.remove(i);
                bodies.add(body(others));
                List<String> values = varied.name().equals("messages") ? MESSAGES : VALUES;
                for (String value : values) {
                    List<Field> changed = new ArrayList<>(fields);
                    changed.set(i, new Field(varied.name(), value));
                    bodies.add(body(changed));
                }
            }
            return bodies.stream();
        }

        private Body body(List<Field> present) {
            List<String> members = present.stream()
                    .map(field -> "\"" + field.name() + "\":" + field.value())
                    .toList();
            return new Body(name, "{" + String.join(",", members) + "}");
        }
    }

    private record Field(String name, String value) {}

    private HostileBodies() {}

    /** All bodies. The fields {@code message} and {@code signer} are those of HTTP; the thread itself ignores them. */
    static List<Body> all() {
        String decision = "callId:\"tu_1\" args:{\"cents\":9} argsDigest:\"ab\" ";
        return Stream.of(
                        verb("say", "id:\"m-1\" content:\"Hello\" schema:{\"type\":\"object\"}"),
                        verb("say", "messages:[]"),
                        verb("say", "message:\"Hello\""),
                        verb("say", "retry:true"),
                        verb("answer", "id:\"m-1\" callId:\"tu_1\" answer:\"Friday\" by:\"ann\""),
                        verb("answer", "callId:\"tu_1\" answer:\"Friday\""),
                        verb(
                                "approve",
                                "id:\"m-1\" " + decision + "by:\"ann\" reason:\"fine\" signature:\"c2ln\""
                                        + " verified:{\"subject\":\"ann\",\"issuer\":\"https://i.example\"}"),
                        verb("approve", decision + "reason:\"fine\" signer:\"ann\" signature:\"c2ln\""),
                        verb(
                                "deny",
                                "callId:\"tu_1\" argsDigest:\"ab\" reason:\"no\" signer:\"ann\" signature:\"c2ln\""),
                        verb("deny", "id:\"m-1\" callId:\"tu_1\" reason:\"no\" by:\"ann\""),
                        verb("settle", "callId:\"tu_1\" outcome:\"done\" result:\"paid\" note:\"seen\" signer:\"ann\""),
                        verb(
                                "settle",
                                "callId:\"tu_1\" outcome:\"not-done\" note:\"seen\" by:\"ann\" signature:\"c2ln\""
                                        + " verified:{\"subject\":\"ann\"}"),
                        verb("budget", "usd:1.5 tokens:100 iterations:20 by:\"ann\""),
                        verb("budget", "usd:1.5"),
                        verb("stop", "by:\"ann\""),
                        verb("clear", "all:true by:\"ann\""),
                        verb("close", "by:\"ann\""),
                        verb("hello", "by:\"ann\""),
                        verb("say", "content:\"Look\" images:[{\"type\":\"image\",\"url\":\"u\"}]"),
                        verb(
                                "approve",
                                "callId:\"tu_1\" argsDigest:\"ab\""
                                        + " grant:{\"times\":3,\"seconds\":60,\"like\":{\"required\":[\"cents\"]}}"),
                        verb("approve", "callId:\"tu_1\" grant:{\"times\":0}"),
                        verb("approve", "callId:\"tu_1\" grant:{\"times\":1.5}"),
                        verb("approve", "callId:\"tu_1\" grant:{\"seconds\":31622401}"),
                        verb("approve", "callId:\"tu_1\" argsDigest:\"ab\" grant:{\"time\":1}"),
                        verb("approve", "callId:\"tu_1\" argsDigest:\"ab\" grant:{\"anyArgs\":true}"),
                        verb("approve", "callId:\"tu_1\" grant:{\"anyArgs\":1}"),
                        verb("approve", "callId:\"tu_1\" grant:{\"like\":true}"),
                        verb("approve", "callId:\"tu_1\" grant:{\"like\":{\"title\":\"@{x*4001}\"}}"),
                        verb("revoke", "grant:1 by:\"ann\""),
                        verb("stop", "said:\"Hello\" by:\"ann\""),
                        verb("say", "content:\"Hello\" untrusted:true"),
                        verb("say", "message:\"Hello\" untrusted:true"))
                .flatMap(Verb::bodies)
                .distinct()
                .toList();
    }

    private static Verb verb(String name, String fields) {
        List<Field> parsed = Stream.of(fields.split(" "))
                .map(field -> field.split(":", 2))
                .map(field -> new Field(field[0], field[1]))
                .toList();
        return new Verb(name, parsed);
    }
}
