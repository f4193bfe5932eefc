package dev.waymark.worker.model;

import dev.waymark.contract.WireNames;
import dev.waymark.contract.work.PartialReply;
import dev.waymark.contract.work.WordsReport;
import dev.waymark.contract.work.WordsRequest;
import io.temporal.common.converter.DataConverter;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The replies that model activities of this worker are receiving. Answers clients that ask for their words. Words that
 * cannot be encrypted are never returned. Thread-safe.
 */
public final class LiveReplies {
    private static final Logger LOG = LoggerFactory.getLogger(LiveReplies.class);

    /** Far below Temporal's limit of 2 MiB. What does not fit is returned by the next queries. */
    private static final int MOST_CHARACTERS = 256 * 1024;

    private final Function<String, DataConverter> converters;
    private final String queue = WireNames.WORDS_QUEUE_PREFIX + UUID.randomUUID();
    private final Map<Run, ModelAttempt> replies = new ConcurrentHashMap<>();

    /** @param converters returns the converter for the payloads of a thread, which encrypts the words */
    public LiveReplies(Function<String, DataConverter> converters) {
        this.converters = converters;
    }

    /** A run calls its models one after the other. */
    private record Run(String thread, String id) {}

    /** The task queue of this worker on which clients ask. */
    public String queue() {
        return queue;
    }

    /** Shows the reply to clients until the result is closed. */
    Shown show(String thread, String runId, ModelAttempt reply) {
        Run run = new Run(thread, runId);
        replies.put(run, reply);
        // A later attempt may have replaced this one.
        return () -> replies.remove(run, reply);
    }

    @FunctionalInterface
    interface Shown extends AutoCloseable {
        @Override
        void close();
    }

    /** Returns what the asking client does not know yet. */
    public WordsReport report(WordsRequest request) {
        List<WordsReport.News> news = new ArrayList<>();
        List<Integer> absent = new ArrayList<>();
        int left = MOST_CHARACTERS;
        for (int i = 0; i < request.calls().size(); i++) {
            WordsRequest.Call call = request.calls().get(i);
            Optional<ModelAttempt> reply = Optional.ofNullable(replies.get(new Run(call.thread(), call.runId())))
                    .filter(known -> known.isOf(call));
            if (reply.isEmpty()) {
                absent.add(i);
            } else if (left > 0) {
                int position = i;
                Optional<WordsReport.News> fresh =
                        reply.get().since(call).flatMap(words -> encoded(position, call.thread(), words));
                fresh.ifPresent(news::add);
                left -= fresh.map(words -> words.reply().length()).orElse(0);
            }
        }
        return new WordsReport(news, absent);
    }

    private Optional<WordsReport.News> encoded(int position, String thread, PartialReply words) {
        try {
            return Optional.of(WordsReport.News.of(position, words, converters.apply(thread)));
        } catch (RuntimeException e) {
            // The thread's key is missing, or cannot be read now.
            LOG.debug("words of {} are not shown", thread, e);
            return Optional.empty();
        }
    }
}
