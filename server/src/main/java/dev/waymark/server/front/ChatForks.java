package dev.waymark.server.front;

import dev.waymark.client.AgentClient;
import dev.waymark.client.failure.WaymarkException;
import dev.waymark.client.request.ForkOptions;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Role;
import dev.waymark.conversation.message.Transcript;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.ProblemType;
import dev.waymark.server.api.RequestIds;
import dev.waymark.server.api.ThreadAccess;
import dev.waymark.server.api.ThreadCourse;
import dev.waymark.server.http.HttpProblem;
import dev.waymark.server.identity.Caller;
import dev.waymark.server.identity.CallerRole;
import dev.waymark.thread.ForkSource;
import dev.waymark.timeline.Timeline;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.IntPredicate;
import java.util.stream.Collectors;

/**
 * Regenerates replies of a chat, and changes its messages. Each time, the chat continues in a fork of its thread, and
 * the earlier thread stays unchanged. The ids of the forks are numbered, so every instance finds the newest one without
 * storing anything.
 */
public final class ChatForks {
    private final AgentClient client;
    private final ThreadAccess access;
    private final FrontEndThreads threads;
    private final String operation;

    public ChatForks(AgentClient client, FrontEndThreads threads, String operation) {
        this.client = client;
        this.access = new ThreadAccess(client);
        this.threads = threads;
        this.operation = operation;
    }

    /** The thread in which a chat continues now. */
    public Optional<String> find(Caller caller, String chat) {
        return threads.find(caller, chat).map(first -> {
            int newest = newest(caller, chat);
            return newest == 0 ? first : fork(caller, chat, newest);
        });
    }

    private String fork(Caller caller, String chat, int number) {
        return RequestIds.thread(caller, operation, Json.canonical(List.of(chat, "fork", number)));
    }

    /** Fork n exists only if all before it exist. */
    private int newest(Caller caller, String chat) {
        IntPredicate exists = number -> access.isVisible(caller, fork(caller, chat, number));
        int known = 0;
        int step = 1;
        while (exists.test(known + step)) {
            known += step;
            step *= 2;
        }
        for (step /= 2; step > 0; step /= 2) {
            if (exists.test(known + step)) {
                known += step;
            }
        }
        return known;
    }

    /**
     * Answers the message before a reply again, in a fork.
     *
     * @param reply the front end's id of the reply; the newest one if empty
     */
    public FrontEndRun regenerate(Caller caller, String chat, Timeline timeline, Optional<String> reply) {
        List<Transcript.Entry> entries = timeline.now().transcript().entries().toList();
        int end = entries.size();
        if (reply.isPresent()) {
            end = 0;
            while (end < entries.size() && !MessageIds.of(entries.get(end)).equals(reply.get())) {
                end++;
            }
            if (end == entries.size()) {
                throw HttpProblem.notFound("no such message in this chat: " + reply.get());
            }
        }
        for (int i = end - 1; i >= 0; i--) {
            if (isOfUser(entries.get(i))) {
                Transcript.Entry asked = entries.get(i);
                return goOn(caller, chat, timeline, asked, asked.message());
            }
        }
        throw HttpProblem.notFound("the chat has no message that could be answered again");
    }

    /**
     * Replaces a message of the user, in a fork.
     *
     * @param id the front end's id of the message that is replaced
     * @param reply the front end's id of the reply before that message, if it has one. In a fork, its first message has
     *     a new id, which the front end does not know until it reads the chat again
     */
    public FrontEndRun edit(
            Caller caller, String chat, Timeline timeline, String id, Optional<String> reply, Message instead) {
        List<Transcript.Entry> entries = timeline.now().transcript().entries().toList();
        Set<String> recorded = recordedIds(caller, chat, timeline, id);
        Transcript.Entry edited = entries.stream()
                .filter(ChatForks::isOfUser)
                .filter(entry -> MessageIds.of(entry).equals(id)
                        || entry.source().filter(recorded::contains).isPresent())
                .reduce((earlier, later) -> later)
                .or(() -> reply.flatMap(known -> entries.stream()
                        .dropWhile(entry -> !MessageIds.of(entry).equals(known))
                        .filter(ChatForks::isOfUser)
                        .findFirst()))
                .orElseThrow(() -> HttpProblem.notFound("no such message of yours in this chat: " + id));
        return goOn(caller, chat, timeline, edited, instead);
    }

    private static boolean isOfUser(Transcript.Entry entry) {
        return entry.message().role() == Role.USER
                && entry.message().toolResults().isEmpty();
    }

    /** The ids under which threads of the chat recorded a message that the front end sent under its own id. */
    private Set<String> recordedIds(Caller caller, String chat, Timeline timeline, String id) {
        List<String> threadsOfChat = new ArrayList<>(List.of(timeline.thread()));
        threads.find(caller, chat).ifPresent(threadsOfChat::add);
        for (int number = newest(caller, chat); number > 0; number--) {
            threadsOfChat.add(fork(caller, chat, number));
        }
        return threadsOfChat.stream()
                .map(thread -> RequestIds.message(caller, operation, thread + "/" + id))
                .collect(Collectors.toSet());
    }

    private FrontEndRun goOn(Caller caller, String chat, Timeline timeline, Transcript.Entry entry, Message message) {
        FrontEndThreads.require(caller, CallerRole.TALK);
        Place place = placeBefore(caller, timeline, entry)
                .orElseThrow(() -> HttpProblem.of(
                        409,
                        ProblemType.CANNOT_FORK,
                        "the chat cannot go on from before this message, because it came with others"));
        String fork = fork(caller, chat, newest(caller, chat) + 1);
        ForkOptions how = ForkOptions.into(fork)
                .at(place.at())
                .saying(message)
                .withUntrusted(FrontEndContent.hasWordsOfOthers(message))
                .allowingVolatile();
        try {
            client.fork(place.thread(), caller.owner().map(how::ownedBy).orElse(how));
        } catch (WaymarkException.Refused e) {
            // Another request has made a fork in the meantime, so the chat continues there.
            if (!access.isVisible(caller, fork)) {
                throw e;
            }
        }
        return FrontEndRun.fromTheStart(fork);
    }

    /** A place in the history of a thread. */
    private record Place(String thread, String at) {}

    /** The place before a message: in the thread, or in one of the threads that it was forked from. */
    private Optional<Place> placeBefore(Caller caller, Timeline newest, Transcript.Entry message) {
        Timeline timeline = newest;
        while (true) {
            String thread = timeline.thread();
            Optional<String> place = ThreadCourse.of(timeline).placeBefore(message);
            if (place.isPresent()) {
                return place.map(at -> new Place(thread, at));
            }
            Optional<ForkSource> source =
                    client.lists().forkSource(thread).filter(known -> access.isVisible(caller, known.thread()));
            if (source.isEmpty()) {
                return Optional.empty();
            }
            timeline = client.timeline(source.get().thread());
            if (!timeline.now().transcript().entries().toList().contains(message)) {
                // The fork began with the message.
                return source.map(known -> new Place(known.thread(), Integer.toString(known.version())));
            }
        }
    }
}
