package dev.waymark.model.adapter;

import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.value.ProblemType;
import dev.waymark.model.ModelFailure;
import dev.waymark.model.ModelRequest;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;

/**
 * Sends reply schemas to models that accept them. Some models and many compatible servers do not: if a model rejects a
 * request with a schema, the request is repeated without it, and later requests omit it. The instructions always
 * contain the schema.
 */
public final class ReplySchemas {
    private static final Pattern ABOUT_SCHEMA = Pattern.compile(
            "schema|response.?format|output_config|output_format|text\\.format|structured output|response mime type");

    private final Set<String> withoutSchema = ConcurrentHashMap.newKeySet();

    public interface Service {
        Reply ask(ModelRequest request) throws ModelFailure, InterruptedException;
    }

    /** Sends a request, with its schema if the model may accept one. */
    public Reply ask(ModelRequest request, Service service) throws ModelFailure, InterruptedException {
        ModelRequest plain = request.withReplySchema(Optional.empty());
        if (request.replySchema().isEmpty() || withoutSchema.contains(request.model())) {
            return service.ask(plain);
        }
        try {
            return service.ask(request);
        } catch (ModelFailure failure) {
            String words = String.valueOf(failure.getMessage()).toLowerCase(Locale.ROOT);
            boolean isRejected = failure.type().equals(ProblemType.BAD_REQUEST)
                    && ABOUT_SCHEMA.matcher(words).find();
            if (!isRejected) {
                throw failure;
            }
        }
        // The rejected request had no effect, so it can be repeated at once.
        Reply reply = service.ask(plain);
        withoutSchema.add(request.model());
        return reply;
    }
}
