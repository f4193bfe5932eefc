package dev.waymark.worker.announce.delivery;

import com.fasterxml.jackson.core.JsonProcessingException;
import dev.waymark.contract.PayloadJson;
import dev.waymark.contract.work.AnnounceInput;
import dev.waymark.conversation.policy.AnnounceRule;
import dev.waymark.conversation.state.Announcement;
import dev.waymark.conversation.state.AnnouncementPlan.Occasion;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Sha256;
import dev.waymark.display.SafeText;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * An announcement in the form in which it is sent. All attempts to send it have the same content.
 *
 * @param id identifies the announcement, so that receivers recognize repeats
 * @param type the name of the event
 * @param at when the event happened
 * @param data the content of the announcement
 * @param text the announcement as a sentence
 * @param link the page of the console that shows it. Opening it makes no decision.
 */
record Notice(String id, String type, Instant at, Map<String, Object> data, String text, Optional<String> link) {
    static Notice of(AnnounceInput input, Occasion occasion, String thread, Optional<URI> publicUrl) {
        Announcement what = input.what();
        boolean namesTool = input.reveal() != AnnounceRule.Reveal.NOTHING;
        Optional<String> callId = what.request().map(Announcement.Request::callId);
        Optional<String> link = publicUrl.map(url -> link(url, thread, callId));
        Map<String, Object> data = new LinkedHashMap<>();
        data.put("thread", thread);
        data.put("agent", input.agent());
        what.request().ifPresent(request -> {
            data.put("callId", request.callId());
            data.put("kind", request.kind().wireName());
            data.put("since", request.since().toString());
            request.until().ifPresent(time -> data.put("until", time.toString()));
            if (namesTool) {
                data.put("tool", request.tool());
            }
        });
        input.question().ifPresent(words -> data.put("question", words));
        input.args().ifPresent(args -> data.put("args", args.value()));
        if (occasion.number() > 0) {
            data.put("reminder", occasion.number());
        }
        what.turn().ifPresent(turn -> data.put("turn", turn));
        what.outcome().ifPresent(outcome -> data.put("outcome", outcome));
        what.by().filter(name -> namesTool).ifPresent(name -> data.put("by", name));
        String text = SafeText.line(sentence(input, occasion, thread));
        data.put("text", text);
        link.ifPresent(url -> data.put("link", url));
        Instant at = what.from().plus(occasion.after());
        return new Notice(id(input, occasion, thread), occasion.event().wireName(), at, data, text, link);
    }

    /** Each request of a call gets a different id, even in a thread that reuses the id of an earlier one. */
    private static String id(AnnounceInput input, Occasion occasion, String thread) {
        Announcement what = input.what();
        List<String> parts = List.of(
                thread,
                input.begun().toString(),
                what.receiver(),
                occasion.event().wireName(),
                Integer.toString(occasion.number()),
                what.request().map(Announcement.Request::callId).orElse(""),
                what.request()
                        .map(Announcement.Request::since)
                        .orElse(what.from())
                        .toString(),
                what.turn().map(String::valueOf).orElse(""));
        return "msg_" + Sha256.hex(Json.of(parts).canonical()).substring(0, 32);
    }

    private static String link(URI publicUrl, String thread, Optional<String> callId) {
        String base = publicUrl.toString();
        return (base.endsWith("/") ? base : base + "/") + "#/thread/" + encoded(thread)
                + callId.map(id -> "?call=" + encoded(id)).orElse("");
    }

    private static String encoded(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
    }

    private static String sentence(AnnounceInput input, Occasion occasion, String thread) {
        String where = "Thread " + thread + " of " + input.agent() + ": ";
        Optional<Announcement.Request> request = input.what().request();
        if (request.isEmpty()) {
            return where + "turn " + input.what().turn().map(String::valueOf).orElse("") + " has ended: "
                    + input.what().outcome().orElse("") + ".";
        }
        String subject = subject(input, request.get());
        return where
                + switch (occasion.event()) {
                    case WAITING -> subject + " waits for a person.";
                    case REMINDER ->
                        subject + " still waits for a person, since "
                                + minute(request.get().since()) + ".";
                    case ESCALATED -> subject + " has waited for " + words(occasion.after()) + " without a decision.";
                    case EXPIRED -> subject + " has expired without a decision.";
                    case OUTCOME_UNKNOWN -> subject + " is not known.";
                    case DECIDED, TURN_ENDED ->
                        subject + " no longer waits: " + input.what().outcome().orElse("decided")
                                + input.what()
                                        .by()
                                        .filter(name -> input.reveal() != AnnounceRule.Reveal.NOTHING)
                                        .map(name -> " by " + name)
                                        .orElse("")
                                + ".";
                };
    }

    private static String subject(AnnounceInput input, Announcement.Request request) {
        String call = input.reveal() == AnnounceRule.Reveal.NOTHING
                ? "a call"
                : request.tool()
                        + input.args().map(args -> " " + args.canonical()).orElse("");
        return switch (request.kind()) {
            case QUESTION ->
                "a question" + input.question().map(words -> " (" + words + ")").orElse("");
            case APPROVAL -> "the approval of " + call;
            case UNKNOWN -> "the outcome of " + call;
        };
    }

    private static String minute(Instant time) {
        return time.toString().substring(0, 16).replace('T', ' ') + " UTC";
    }

    private static String words(Duration time) {
        return time.toHours() > 0 && time.toMinutesPart() == 0
                ? time.toHours() + " h"
                : time.toMinutes() > 0 && time.toSecondsPart() == 0
                        ? time.toMinutes() + " min"
                        : time.toSeconds() + " s";
    }

    /** The document that webhooks and programs get. */
    Map<String, Object> document() {
        Map<String, Object> document = new LinkedHashMap<>();
        document.put("type", type);
        document.put("timestamp", at.toString());
        document.put("data", data);
        return document;
    }

    static String json(Map<String, Object> document) {
        try {
            return PayloadJson.MAPPER.writeValueAsString(document);
        } catch (JsonProcessingException e) {
            throw new UncheckedIOException(e);
        }
    }
}
