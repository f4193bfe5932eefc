package dev.waymark.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.waymark.e2e.product.Agents;
import dev.waymark.e2e.product.Command;
import dev.waymark.e2e.product.Dev;
import dev.waymark.e2e.product.ReadyProcess;
import dev.waymark.e2e.product.ScriptFile;
import java.io.IOException;
import java.math.BigInteger;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.Signature;
import java.security.interfaces.RSAPublicKey;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code ./waymark serve} with JSON Web Tokens, over HTTP. */
@Tag("full")
@Timeout(300)
class WebTokensTest {
    private static final JsonMapper JSON = new JsonMapper();
    private static final HttpClient HTTP = HttpClient.newHttpClient();
    private static final String RS256 = "{\"alg\":\"RS256\",\"typ\":\"JWT\",\"kid\":\"k1\"}";

    private static KeyPair keys;
    private static Dev dev;
    private static ReadyProcess serve;
    private static String threads;

    @BeforeAll
    static void start(@TempDir Path directory) throws Exception {
        keys = newKeys();
        RSAPublicKey key = (RSAPublicKey) keys.getPublic();
        Path set = directory.resolve("keys.json");
        Files.writeString(
                set,
                "{\"keys\":[{\"kty\":\"RSA\",\"use\":\"sig\",\"alg\":\"RS256\",\"kid\":\"k1\",\"n\":\""
                        + encoded(unsigned(key.getModulus())) + "\",\"e\":\""
                        + encoded(unsigned(key.getPublicExponent())) + "\"}]}");
        dev = Dev.inMemory(new Agents(directory).teller().directory());
        serve = ReadyProcess.start(ScriptFile.command(
                        "serve",
                        "--port",
                        "0",
                        "--json",
                        "--jwt-issuer",
                        "https://id.example",
                        "--jwt-audience",
                        "waymark",
                        "--jwt-keys",
                        set.toString())
                .environment(Map.of("TEMPORAL_ADDRESS", dev.address()))
                .showingErrors());
        threads = serve.address() + "/v1/threads";
    }

    @AfterAll
    static void stop() {
        if (serve != null) { // Both are null if nothing is built and the tests are skipped.
            serve.close();
        }
        if (dev != null) {
            dev.close();
        }
    }

    @Test
    void forgedOrInvalidTokens_areRejectedWithoutDetails() throws Exception {
        String ann = signed(RS256, claims("ann", "talk decide"), keys);
        String thread = started(ann);
        String good = claims("ann", "talk decide");
        Map<String, String> tokens = new LinkedHashMap<>();
        tokens.put("no token", "");
        tokens.put("not a token", "a.b.c");
        tokens.put("expired", signed(RS256, claims(-120, "https://id.example", "waymark", "ann", "talk"), keys));
        tokens.put(
                "for another audience", signed(RS256, claims(300, "https://id.example", "other", "ann", "talk"), keys));
        tokens.put(
                "of another issuer",
                signed(RS256, claims(300, "https://evil.example", "waymark", "ann", "talk"), keys));
        tokens.put("without expiry", signed(RS256, good.replaceFirst("\"exp\":\\d+,", ""), keys));
        tokens.put("unsigned", encoded("{\"alg\":\"none\"}") + "." + encoded(good) + ".");
        tokens.put("unsigned, with a signature", encoded("{\"alg\":\"none\"}") + ann.substring(ann.indexOf('.')));
        tokens.put("with the public key as a secret", withSecret(good));
        tokens.put("signed with another key", signed(RS256, good, newKeys()));
        tokens.put(
                "with other claims than were signed",
                ann.replaceFirst("\\.[^.]*\\.", "." + encoded(claims("root", "operate")) + "."));
        for (Map.Entry<String, String> token : tokens.entrySet()) {
            // An address may send thirty invalid tokens at once, then ten a second.
            for (String path : List.of("", "/" + thread)) {
                HttpResponse<String> refused = get(path, token.getValue());
                assertThat(code(refused)).as(token.getKey()).isEqualTo("401 Unauthenticated");
                assertThat(refused.body()).as(token.getKey()).doesNotContain(thread, "teller", "wire");
            }
        }
        assertThat(code(get("?access_token=" + ann, ""))).isEqualTo("400 TokenInUrl");
        assertThat(get("/" + thread, ann).statusCode()).isEqualTo(200);
    }

    @Test
    void threadsOfOthers_areNotFoundAndRolesApply() throws Exception {
        String thread = started(signed(RS256, claims("ann", "talk"), keys));
        String bob = signed(RS256, claims("bob", "talk decide"), keys);
        String looker = signed(RS256, claims("ann", "look"), keys);

        assertThat(code(get("/" + thread, bob))).isEqualTo(code(get("/no-such-thread", bob)));
        assertThat(get("/" + thread, bob).body().replace(thread, "T"))
                .isEqualTo(get("/no-such-thread", bob).body().replace("no-such-thread", "T"));
        assertThat(get("/" + thread, looker).statusCode()).isEqualTo(200);
        assertThat(code(post("", "{\"agent\":\"teller\",\"message\":\"Hi\"}", looker)))
                .isEqualTo("403 RoleRequired");
        assertThat(code(post("/" + thread + "/stop", "{}", looker))).isEqualTo("403 RoleRequired");
    }

    @Test
    void approval_isRecordedWithTheSubjectAndItsIssuer() throws Exception {
        String ann = signed(RS256, claims("ann", "talk decide"), keys);
        String thread = started(ann);
        JsonNode asked = await().atMost(Duration.ofMinutes(1))
                .until(
                        () -> JSON.readTree(get("/" + thread + "/pending", ann).body())
                                .at("/pending/0"),
                        pending -> !pending.isMissingNode());

        assertThat(post(
                                "/" + thread + "/approve",
                                "{\"callId\":\"tu_1\",\"argsDigest\":\""
                                        + asked.path("argsDigest").asText() + "\"}",
                                ann)
                        .statusCode())
                .isEqualTo(202);
        JsonNode call = JSON.readTree(get("/" + thread + "/calls", ann).body()).at("/calls/0");
        assertThat(call.path("approval").path("verified").toString())
                .isEqualTo("{\"subject\":\"ann\",\"issuer\":\"https://id.example\"}");
        assertThat(Command.at(dev.address()).run("show", thread).out()).contains("approved by ann");
    }

    private static String started(String token) throws Exception {
        HttpResponse<String> answer = post("", "{\"agent\":\"teller\",\"message\":\"Pay\"}", token);
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(201);
        return JSON.readTree(answer.body()).path("thread").asText();
    }

    private static String code(HttpResponse<String> answer) throws IOException {
        return answer.statusCode() + " "
                + JSON.readTree(answer.body()).path("code").asText();
    }

    private static HttpResponse<String> get(String path, String token) throws Exception {
        return send(HttpRequest.newBuilder(URI.create(threads + path)), token);
    }

    private static HttpResponse<String> post(String path, String body, String token) throws Exception {
        return send(
                HttpRequest.newBuilder(URI.create(threads + path))
                        .header("Content-Type", "application/json")
                        .header("Idempotency-Key", UUID.randomUUID().toString())
                        .POST(HttpRequest.BodyPublishers.ofString(body)),
                token);
    }

    private static HttpResponse<String> send(HttpRequest.Builder request, String token) throws Exception {
        if (!token.isEmpty()) {
            request.header("Authorization", "Bearer " + token);
        }
        return HTTP.send(request.build(), HttpResponse.BodyHandlers.ofString());
    }

    private static String claims(String subject, String roles) {
        return claims(300, "https://id.example", "waymark", subject, roles);
    }

    private static String claims(int seconds, String issuer, String audience, String subject, String roles) {
        return "{\"exp\":" + Instant.now().plusSeconds(seconds).getEpochSecond() + ",\"iss\":\"" + issuer
                + "\",\"aud\":\"" + audience + "\",\"sub\":\"" + subject + "\",\"waymark_roles\":\"" + roles + "\"}";
    }

    private static String signed(String header, String claims, KeyPair with) throws Exception {
        String content = encoded(header) + "." + encoded(claims);
        Signature signature = Signature.getInstance("SHA256withRSA");
        signature.initSign(with.getPrivate());
        signature.update(content.getBytes(StandardCharsets.US_ASCII));
        return content + "." + encoded(signature.sign());
    }

    private static String withSecret(String claims) throws Exception {
        String content = encoded("{\"alg\":\"HS256\",\"kid\":\"k1\"}") + "." + encoded(claims);
        Mac mac = Mac.getInstance("HmacSHA256");
        mac.init(new SecretKeySpec(keys.getPublic().getEncoded(), "HmacSHA256"));
        return content + "." + encoded(mac.doFinal(content.getBytes(StandardCharsets.US_ASCII)));
    }

    private static KeyPair newKeys() throws Exception {
        KeyPairGenerator generator = KeyPairGenerator.getInstance("RSA");
        generator.initialize(2048);
        return generator.generateKeyPair();
    }

    private static byte[] unsigned(BigInteger number) {
        byte[] bytes = number.toByteArray();
        return bytes[0] == 0 ? Arrays.copyOfRange(bytes, 1, bytes.length) : bytes;
    }

    private static String encoded(String text) {
        return encoded(text.getBytes(StandardCharsets.UTF_8));
    }

    private static String encoded(byte[] bytes) {
        return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
    }
}
