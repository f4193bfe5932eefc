package dev.waymark.testkit.model;

import dev.waymark.conversation.value.Usage;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** What a fake model service answers to a request. */
public sealed interface ModelAnswer {

    /** A reply of text pieces, to which calls and other pieces can be added. */
    static Speech says(String... pieces) {
        List<Piece> said = new ArrayList<>();
        for (String piece : pieces) {
            said.add(new Piece.Words(piece));
        }
        return new Speech(said, Usage.NONE, Optional.empty(), Duration.ZERO, Optional.empty(), false);
    }

    /** An error with the service's response body. */
    static Error error(int status, String body) {
        return new Error(status, Map.of(), body);
    }

    /** A stream of these events, well-formed or not. */
    static Raw events(String... data) {
        return new Raw("text/event-stream", List.of(data), Raw.End.COMPLETE);
    }

    /** One piece of a reply. */
    sealed interface Piece {
        /** A piece of text. */
        record Words(String text) implements Piece {}

        /** Reasoning, which must be sent back unchanged. The signature is for services that sign. */
        record Thought(String text, String signature) implements Piece {}

        /** @param arguments as the model wrote them, usually JSON */
        record Call(String id, String name, String arguments) implements Piece {}

        /** A block of an unknown type, as JSON. */
        record Strange(String block) implements Piece {}
    }

    /**
     * A streamed reply.
     *
     * @param stop {@code end_turn}, {@code tool_use} and {@code max_tokens} are translated to the service's words,
     * others are sent unchanged
     * @param pace the time between two pieces
     * @param until the number of pieces after which the connection breaks or pauses
     */
    record Speech(
            List<Piece> pieces,
            Usage usage,
            Optional<String> stop,
            Duration pace,
            Optional<Integer> until,
            boolean silent)
            implements ModelAnswer {
        public Speech {
            pieces = List.copyOf(pieces);
        }

        /** Adds a call of a tool. */
        public Speech calls(String id, String name, String arguments) {
            return plus(new Piece.Call(id, name, arguments));
        }

        /** Adds a piece. */
        public Speech plus(Piece piece) {
            List<Piece> more = new ArrayList<>(pieces);
            more.add(piece);
            return new Speech(more, usage, stop, pace, until, silent);
        }

        /** Reports this usage. */
        public Speech using(long inputTokens, long outputTokens) {
            return using(new Usage(inputTokens, outputTokens));
        }

        /** Reports this usage, with its parts. */
        public Speech using(Usage counted) {
            return new Speech(pieces, counted, stop, pace, until, silent);
        }

        /** Ends with this reason, in the words of the service. */
        public Speech stopping(String why) {
            return new Speech(pieces, usage, Optional.of(why), pace, until, silent);
        }

        /** Waits this long between the pieces. */
        public Speech every(Duration between) {
            return new Speech(pieces, usage, stop, between, until, silent);
        }

        /** Breaks the connection after this many pieces. */
        public Speech cutAfter(int count) {
            return new Speech(pieces, usage, stop, pace, Optional.of(count), false);
        }

        /** Pauses after this many pieces until the test lets the service go on. */
        public Speech silentAfter(int count) {
            return new Speech(pieces, usage, stop, pace, Optional.of(count), true);
        }

        /** Repeats the pieces as long as the client reads. */
        public Endless endless() {
            return new Endless(this);
        }

        /** Why the reply ends: as said, otherwise because of its calls or because it is complete. */
        public String stopWord() {
            boolean calls = pieces.stream().anyMatch(Piece.Call.class::isInstance);
            return stop.orElse(calls ? "tool_use" : "end_turn");
        }
    }

    /** An error response. */
    record Error(int status, Map<String, String> headers, String body) implements ModelAnswer {
        public Error {
            headers = Collections.unmodifiableMap(new LinkedHashMap<>(headers));
        }

        /** Adds a header. */
        public Error with(String header, String value) {
            Map<String, String> more = new LinkedHashMap<>(headers);
            more.put(header, value);
            return new Error(status, more, body);
        }
    }

    /** Status 200 with these events, or with this body if the content type is not that of a stream. */
    record Raw(String contentType, List<String> data, End end) implements ModelAnswer {
        public Raw {
            data = List.copyOf(data);
        }

        /** How the connection continues after the data. */
        public enum End {
            COMPLETE,
            BROKEN_CONNECTION,
            /** Repeats the data as long as the client reads. */
            NEVER
        }

        /** Changes the content type. */
        public Raw as(String type) {
            return new Raw(type, data, end);
        }

        /** Breaks the connection after the data. */
        public Raw breaking() {
            return new Raw(contentType, data, End.BROKEN_CONNECTION);
        }

        /** Repeats the data as long as the client reads. */
        public Raw endless() {
            return new Raw(contentType, data, End.NEVER);
        }
    }

    /** A reply whose pieces repeat as long as the client reads. */
    record Endless(Speech speech) implements ModelAnswer {}
}
