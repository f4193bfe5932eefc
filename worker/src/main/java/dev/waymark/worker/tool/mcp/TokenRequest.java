package dev.waymark.worker.tool.mcp;

import com.fasterxml.jackson.databind.JsonNode;
import dev.waymark.agent.McpServer;
import dev.waymark.agent.McpToken;
import dev.waymark.conversation.value.Problem;
import dev.waymark.worker.outbound.HeaderSecret;
import dev.waymark.worker.outbound.SentOnce;
import dev.waymark.worker.process.ProcessFence;
import dev.waymark.worker.secret.Secrets;
import java.io.IOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import okhttp3.Call;
import okhttp3.Credentials;
import okhttp3.FormBody;
import okhttp3.Request;
import okhttp3.Response;

/**
 * Asks an authorization server for a token with the credentials of this client, for this resource only. Redirects are
 * not followed, because they would send the secret elsewhere.
 */
final class TokenRequest implements HeaderSecret.Source {
    private static final int MOST_BYTES = 64 * 1024;
    private static final int LONGEST_WORDS = 300;

    /** The time that a request may take to arrive at the server. */
    private static final Duration MARGIN = Duration.ofSeconds(30);

    private final McpToken.ClientCredentials client;
    private final String resource;
    private final Secrets secrets;

    TokenRequest(McpToken.ClientCredentials client, McpServer server, Secrets secrets) {
        this.client = client;
        this.resource = server.url().orElseThrow();
        this.secrets = secrets;
    }

    @Override
    public HeaderSecret.Issued read(ProcessFence fence) throws HeaderSecret.UnavailableException, InterruptedException {
        FormBody.Builder form =
                new FormBody.Builder().add("grant_type", "client_credentials").add("resource", resource);
        client.scope().ifPresent(scope -> form.add("scope", scope));
        Request request = new Request.Builder()
                .url(client.url())
                .header("Accept", "application/json")
                .header(
                        "Authorization",
                        Credentials.basic(
                                encoded(secrets.resolveInLine(client.id())),
                                encoded(secrets.resolveInLine(client.secret()))))
                .post(form.build())
                .build();
        Call call = McpHttpChannel.CLIENT.newCall(request);
        try {
            return SentOnce.answer(call, TokenRequest::read)
                    .get(fence.leftUpTo(HeaderSecret.LONGEST_READ).toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            throw failure("no answer in time");
        } catch (ExecutionException e) {
            Throwable cause = Objects.requireNonNullElse(e.getCause(), e);
            throw failure(Objects.requireNonNullElse(
                    cause.getMessage(), cause.getClass().getSimpleName()));
        } finally {
            call.cancel();
        }
    }

    /** Encodes the user name or the password as RFC 6749 requires. */
    private static String encoded(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8);
    }

    private HeaderSecret.UnavailableException failure(String why) {
        return new HeaderSecret.UnavailableException(
                Problem.cut(secrets.mask(why).strip(), LONGEST_WORDS));
    }

    /** Reads the answer of the authorization server. */
    private static HeaderSecret.Issued read(Response response) throws IOException {
        JsonNode said = JsonRpc.read(response.peekBody(MOST_BYTES).bytes()).orElseGet(JsonRpc::object);
        if (!response.isSuccessful()) {
            throw new IOException(
                    ("HTTP " + response.code() + " " + said.path("error").asText() + " "
                                    + said.path("error_description").asText())
                            .strip());
        }
        if (!said.path("access_token").isTextual()) {
            throw new IOException("the answer has no access_token");
        }
        String type = said.path("token_type").asText("Bearer");
        if (!type.equalsIgnoreCase("Bearer")) {
            throw new IOException("tokens of the type " + type + " are not supported");
        }
        long seconds = said.path("expires_in").asLong();
        Duration use = Duration.ofSeconds(Math.min(seconds, Duration.ofDays(365).toSeconds()))
                .minus(MARGIN);
        return new HeaderSecret.Issued(
                said.path("access_token").textValue(),
                seconds <= 0 ? HeaderSecret.USUAL_USE : use.isNegative() ? Duration.ZERO : use);
    }
}
