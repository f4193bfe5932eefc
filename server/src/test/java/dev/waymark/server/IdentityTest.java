package dev.waymark.server;

import static dev.waymark.server.ServedThreads.ANN;
import static dev.waymark.server.ServedThreads.EXPIRED;
import static dev.waymark.server.ServedThreads.LOOKER;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.nimbusds.jose.JOSEObjectType;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.crypto.ECDSASigner;
import com.nimbusds.jose.crypto.MACSigner;
import com.nimbusds.jose.crypto.RSASSASigner;
import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.RSAKey;
import com.nimbusds.jose.jwk.gen.ECKeyGenerator;
import com.nimbusds.jose.jwk.gen.RSAKeyGenerator;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.PlainJWT;
import com.nimbusds.jwt.SignedJWT;
import com.sun.net.httpserver.HttpServer;
import dev.waymark.server.http.HttpSettings;
import dev.waymark.server.identity.Caller;
import dev.waymark.server.identity.CallerRole;
import dev.waymark.server.identity.IdentityProblem;
import dev.waymark.server.identity.JwtSettings;
import dev.waymark.server.identity.JwtTokens;
import dev.waymark.server.identity.StaticTokens;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Which callers are admitted, and which are rejected. */
@Tag("full")
class IdentityTest {
    private static final String ISSUER = "https://id.example";

    @TempDir
    private static Path directory;

    private static ServedThreads threads;
    private static ApiServer server;
    private static RSAKey rsa;
    private static ECKey ec;

    @BeforeAll
    static void start() throws Exception {
        threads = ServedThreads.inMemory(directory, Map.of());
        server = threads.serve(HttpSettings.at("127.0.0.1", 0)
                .withCorsOrigins(List.of("https://app.example"))
                .withLimits(1_000, 3, 10));
        rsa = new RSAKeyGenerator(2048).keyID("r1").generate();
        ec = new ECKeyGenerator(Curve.P_256).keyID("e1").generate();
    }

    @AfterAll
    static void stop() throws Exception {
        threads.close();
    }

    private static HttpCaller ann() {
        return HttpCaller.of(server, ANN);
    }

    @Test
    void requestWithoutValidToken_toAnyPath_isUnauthenticated() throws Exception {
        for (String path : List.of("/v1/threads", "/v1/threads/t-1", "/v1/nothing", "/v1/threads/t-1/events")) {
            assertThat(code(ann().asNobody().get(path))).isEqualTo("401 Unauthenticated");
            assertThat(code(ann().as(EXPIRED).get(path))).isEqualTo("401 Unauthenticated");
            assertThat(code(ann().as("x".repeat(43)).get(path))).isEqualTo("401 Unauthenticated");
        }
        assertThat(ann().asNobody().get("/v1/threads").response().headers().firstValue("WWW-Authenticate"))
                .contains("Bearer");
    }

    @Test
    void tokenInUrl_isRefusedAsTokenInUrl() throws Exception {
        assertThat(code(ann().get("/v1/threads?access_token=" + ANN))).isEqualTo("400 TokenInUrl");
        assertThat(code(ann().asNobody().get("/v1/threads?token=" + ANN))).isEqualTo("400 TokenInUrl");
    }

    @Test
    void severalTokensOrBareLineFeeds_areRefused() throws Exception {
        String ok = "GET /v1/threads HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer " + ANN;

        assertThat(raw(server.port(), ok + "\r\n\r\n")).startsWith("HTTP/1.1 200");
        assertThat(raw(server.port(), ok + "\r\nAuthorization: Bearer " + LOOKER + "\r\n\r\n"))
                .startsWith("HTTP/1.1 400")
                .contains("more than one Authorization header");
        assertThat(raw(server.port(), ok + "\nX-Other: 1\r\n\r\n")).startsWith("HTTP/1.1 400");
    }

    @Test
    void start_withoutRoleTalk_isForbidden() throws Exception {
        HttpCaller looker = ann().as(LOOKER);
        assertThat(looker.get("/v1/threads").status()).isEqualTo(200);
        assertThat(code(looker.post("/v1/threads", "{'agent':'assistant','message':'Hi'}")))
                .isEqualTo("403 RoleRequired");
    }

    @Test
    void origin_isRefusedUnlessListed() throws Exception {
        HttpCaller.Answer foreign = ann().send(ann().request("/v1/threads")
                .header("Origin", "https://evil.example")
                .GET());
        assertThat(code(foreign)).isEqualTo("403 ForeignOrigin");
        assertThat(foreign.response().headers().firstValue("Access-Control-Allow-Origin"))
                .isEmpty();
        HttpCaller.Answer listed = ann().send(ann().request("/v1/threads")
                .header("Origin", "https://app.example")
                .GET());
        assertThat(listed.status()).isEqualTo(200);
        assertThat(listed.response().headers().firstValue("Access-Control-Allow-Origin"))
                .contains("https://app.example");
        HttpCaller.Answer preflight = ann().asNobody()
                .send(ann().asNobody()
                        .request("/v1/threads")
                        .header("Origin", "https://app.example")
                        .header("Access-Control-Request-Method", "POST")
                        .method("OPTIONS", HttpRequest.BodyPublishers.noBody()));
        assertThat(preflight.status()).isEqualTo(204);
        assertThat(preflight.response().headers().firstValue("Access-Control-Allow-Credentials"))
                .isEmpty();
    }

    @Test
    void serverWithoutAuthentication_servesLoopbackOnly() throws Exception {
        assertThatThrownBy(() -> threads.serveUnchecked(HttpSettings.at("0.0.0.0", 0)))
                .isInstanceOf(IdentityProblem.class);
        ApiServer open = threads.serveUnchecked(HttpSettings.at("127.0.0.1", 0));
        HttpCaller nobody = HttpCaller.of(open, "").asNobody();
        assertThat(nobody.start("assistant", "Hi")).startsWith("t-");
        // Requests of a page whose name resolves to this server (DNS rebinding), and of a form on a foreign page.
        for (String path : List.of("/v1/threads", "/", "/console/app.js")) {
            assertThat(raw(
                            open.port(),
                            "GET " + path + " HTTP/1.1\r\nHost: evil.example\r\nSec-Fetch-Site: same-origin\r\n"
                                    + "Connection: close\r\n\r\n"))
                    .contains("403", "ForeignHost");
        }
        assertThat(raw(
                        open.port(),
                        "POST /v1/threads HTTP/1.1\r\nHost: 127.0.0.1\r\nOrigin: https://evil.example\r\n"
                                + "Content-Type: text/plain\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}"))
                .contains("403", "ForeignOrigin");
    }

    @Test
    void console_behindTlsProxy_isCachedAndNeedsNoToken() throws Exception {
        HttpCaller nobody = ann().asNobody();
        HttpResponse<String> page = text(nobody, "/");
        assertThat(page.statusCode()).isEqualTo(200);
        assertThat(page.headers().firstValue("Content-Security-Policy").orElseThrow())
                .contains("script-src 'self'");
        String tag = page.headers().firstValue("ETag").orElseThrow();
        HttpResponse<String> again = nobody.http()
                .send(
                        nobody.request("/").header("If-None-Match", tag).GET().build(),
                        HttpResponse.BodyHandlers.ofString());
        assertThat(again.statusCode()).isEqualTo(304);
        assertThat(again.body()).isEmpty();
        assertThat(nobody.get("/console/none.js").status()).isEqualTo(401);
        assertThat(nobody.get("/v1/threads").status()).isEqualTo(401);

        HttpCaller.Answer proxied = ann().send(ann().posting("/v1/threads", "{'agent':'assistant','message':'Hi'}")
                .header("Origin", "https://agents.example")
                .header("Sec-Fetch-Site", "same-origin"));
        assertThat(proxied.status()).isEqualTo(201);
    }

    private static HttpResponse<String> text(HttpCaller caller, String path) throws Exception {
        return caller.http().send(caller.request(path).GET().build(), HttpResponse.BodyHandlers.ofString());
    }

    /** Otherwise a client would send its next request on a connection that the server is closing. */
    @Test
    void unparsableRequest_isAnsweredWithConnectionClose() throws Exception {
        assertThat(raw(server.port(), "GET /v1/threads/%zz HTTP/1.1\r\nHost: x\r\n\r\n"))
                .contains("400", "BadInput", "Connection: close");
    }

    @Test
    void largeAndSlowBodies_areRefusedWithoutDelayingOthers() throws Exception {
        assertThat(raw(
                        server.port(),
                        "POST /v1/threads HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + ANN
                                + "\r\nContent-Type: application/json\r\nContent-Length: 52428800\r\n\r\n"))
                .contains("413", "TooLarge");
        String chunked = "POST /v1/threads HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + ANN
                + "\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n";
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
            OutputStream out = socket.getOutputStream();
            out.write(chunked.getBytes(StandardCharsets.US_ASCII));
            byte[] piece = ("10000\r\n" + "x".repeat(0x10000) + "\r\n").getBytes(StandardCharsets.US_ASCII);
            for (int i = 0; i < 17; i++) {
                out.write(piece);
            }
            out.flush();
            assertThat(new String(socket.getInputStream().readNBytes(12), StandardCharsets.US_ASCII))
                    .isEqualTo("HTTP/1.1 413");
        }
        Socket[] slow = new Socket[80];
        for (int i = 0; i < slow.length; i++) {
            slow[i] = new Socket(InetAddress.getLoopbackAddress(), server.port());
            slow[i].getOutputStream().write((chunked + "5\r\n{\"ag").getBytes(StandardCharsets.US_ASCII));
        }
        assertThat(ann().get("/v1/threads").status()).isEqualTo(200);
        for (Socket each : slow) {
            each.setSoTimeout(60_000);
            assertThat(new String(each.getInputStream().readAllBytes(), StandardCharsets.UTF_8))
                    .startsWith("HTTP/1.1 408")
                    .contains("\"TooSlow\"");
            each.close();
        }
    }

    @Test
    void tooManyStreamsOfOneSubject_areRefusedWithoutDelayingOthers() throws Exception {
        int most = 50;
        ApiServer limited = threads.serve(HttpSettings.at("127.0.0.1", 0).withLimits(10_000, most, 1_000));
        HttpCaller ann = HttpCaller.of(limited, ANN);
        String path = "/v1/threads/" + ann.start("asker", "Book") + "/events";
        List<CompletableFuture<HttpResponse<InputStream>>> sent = new ArrayList<>();
        for (int i = 0; i < 1_000; i++) {
            sent.add(ann.http().sendAsync(ann.request(path).build(), HttpResponse.BodyHandlers.ofInputStream()));
        }
        List<InputStream> open = new ArrayList<>();
        List<String> refused = new ArrayList<>();
        for (CompletableFuture<HttpResponse<InputStream>> each : sent) {
            HttpResponse<InputStream> response = each.get(1, TimeUnit.MINUTES);
            if (response.statusCode() == 200) {
                open.add(response.body());
            } else {
                refused.add(response.statusCode() + " "
                        + new String(response.body().readAllBytes(), StandardCharsets.UTF_8));
            }
        }

        assertThat(open).hasSize(most);
        assertThat(refused)
                .hasSize(1_000 - most)
                .allMatch(text -> text.startsWith("429 ") && text.contains("TooManyStreams"));
        HttpCaller bob = ann.as(ServedThreads.BOB);
        assertThat(bob.get("/v1/threads").status()).isEqualTo(200);
        try (EventStreamReader stream = EventStreamReader.open(bob, bob.start("asker", "Book"), Optional.empty())) {
            assertThat(stream.until(events -> !events.isEmpty())).isNotEmpty();
        }
        for (InputStream each : open) {
            each.close();
        }
    }

    @Test
    void tooManyRequestsOfOneCaller_areRefusedWithoutDelayingOthers() throws Exception {
        ApiServer strict = threads.serve(HttpSettings.at("127.0.0.1", 0).withLimits(1, 2, 10));
        HttpCaller ann = HttpCaller.of(strict, ANN);
        List<String> codes = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            codes.add(code(ann.get("/v1/me")));
        }
        assertThat(codes).startsWith("200 ", "200 ", "200 ").contains("429 TooManyRequests");
        assertThat(ann.as(ServedThreads.BOB).get("/v1/me").status()).isEqualTo(200);
    }

    @Test
    void tokenFile_isReadAgainWhenItChanges() throws Exception {
        Path file = directory.resolve("changing.json");
        String token = StaticTokens.newToken();
        String entry = "{\"tokens\":[{\"sha256\":\"" + StaticTokens.hash(token)
                + "\",\"subject\":\"ann\",\"roles\":[\"talk\"]}]}";
        Files.writeString(file, entry);
        StaticTokens tokens = StaticTokens.of(file);
        assertThat(tokens.caller(token)).isPresent();
        Files.writeString(file, "{\"tokens\":[]}");
        Files.setLastModifiedTime(file, FileTime.from(Instant.now().plusSeconds(5)));
        assertThat(tokens.caller(token)).isEmpty();
        Files.writeString(file, "nonsense");
        Files.setLastModifiedTime(file, FileTime.from(Instant.now().plusSeconds(9)));
        assertThat(tokens.caller(token)).isEmpty();
        assertThatThrownBy(() -> StaticTokens.of(file)).isInstanceOf(IdentityProblem.class);
        Files.writeString(file, entry.replace("talk", "root"));
        assertThatThrownBy(() -> StaticTokens.of(file)).hasMessageContaining("no such role: root");
    }

    @Test
    void jwt_withAnyInvalidPart_isRejected() throws Exception {
        Path keys = directory.resolve("jwks.json");
        Files.writeString(keys, new JWKSet(List.of(rsa, ec)).toPublicJWKSet().toString());
        JwtTokens tokens = jwts(keys.toString());

        Caller caller = tokens.caller(signed(claims().build())).orElseThrow();
        assertThat(caller.subject().orElseThrow().subject()).isEqualTo("ann");
        assertThat(caller.subject().orElseThrow().issuer()).contains(ISSUER);
        assertThat(caller.groups()).containsExactly("support");
        assertThat(caller.roles()).containsExactlyInAnyOrder(CallerRole.TALK, CallerRole.DECIDE);
        SignedJWT elliptic = new SignedJWT(
                new JWSHeader.Builder(JWSAlgorithm.ES256).keyID("e1").build(), claims().build());
        elliptic.sign(new ECDSASigner(ec));
        assertThat(tokens.caller(elliptic.serialize())).isPresent();
        assertThat(tokens.caller(signed(claims().claim("waymark_roles", null).build()))
                        .orElseThrow()
                        .roles())
                .containsExactly(CallerRole.LOOK);

        assertThat(tokens.caller(signed(claims().issuer("https://other.example").build())))
                .isEmpty();
        assertThat(tokens.caller(signed(claims().audience("another").build()))).isEmpty();
        assertThat(tokens.caller(signed(claims().audience((String) null).build())))
                .isEmpty();
        assertThat(tokens.caller(
                        signed(claims().expirationTime(Date.from(Instant.now().minusSeconds(120)))
                                .build())))
                .isEmpty();
        assertThat(tokens.caller(signed(claims().expirationTime(null).build()))).isEmpty();
        assertThat(tokens.caller(
                        signed(claims().notBeforeTime(Date.from(Instant.now().plusSeconds(120)))
                                .build())))
                .isEmpty();
        assertThat(tokens.caller(signed(claims().subject(null).build()))).isEmpty();
        assertThat(tokens.caller(new PlainJWT(claims().build()).serialize())).isEmpty();
        String none = Base64.getUrlEncoder().withoutPadding().encodeToString("{\"alg\":\"none\"}".getBytes())
                + signed(claims().build()).replaceFirst("^[^.]*", "").replaceFirst("[^.]*$", "");
        assertThat(tokens.caller(none)).isEmpty();
        // This token is signed with the public key as a shared secret.
        SignedJWT confused = new SignedJWT(new JWSHeader(JWSAlgorithm.HS256), claims().build());
        confused.sign(new MACSigner(rsa.toRSAPublicKey().getEncoded()));
        assertThat(tokens.caller(confused.serialize())).isEmpty();
        SignedJWT stranger = new SignedJWT(
                new JWSHeader.Builder(JWSAlgorithm.RS256).keyID("r1").build(), claims().build());
        stranger.sign(new RSASSASigner(new RSAKeyGenerator(2048).generate()));
        assertThat(tokens.caller(stranger.serialize())).isEmpty();
        String valid = signed(claims().build());
        assertThat(tokens.caller(valid.substring(0, valid.length() - 6) + "AAAAAA"))
                .isEmpty();
        assertThat(tokens.caller("a.b.c")).isEmpty();
    }

    @Test
    void keys_areReadFromPemFilesOrHttps() throws Exception {
        Path pem = directory.resolve("key.pem");
        Files.writeString(
                pem,
                "-----BEGIN PUBLIC KEY-----\n"
                        + Base64.getMimeEncoder()
                                .encodeToString(rsa.toRSAPublicKey().getEncoded())
                        + "\n-----END PUBLIC KEY-----\n");
        assertThat(jwts(pem.toString()).caller(signed(claims().build()))).isPresent();
        HttpServer provider = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        byte[] set = new JWKSet(rsa).toPublicJWKSet().toString().getBytes(StandardCharsets.UTF_8);
        provider.createContext("/jwks", exchange -> {
            exchange.sendResponseHeaders(200, set.length);
            exchange.getResponseBody().write(set);
            exchange.close();
        });
        provider.start();
        try {
            String url = "http://127.0.0.1:" + provider.getAddress().getPort() + "/jwks";
            assertThat(jwts(url).caller(signed(claims().build()))).isPresent();
        } finally {
            provider.stop(0);
        }
        assertThatThrownBy(() -> jwts("http://192.0.2.1/jwks")).isInstanceOf(IdentityProblem.class);
        assertThatThrownBy(() -> jwts(directory.resolve("none").toString())).isInstanceOf(IdentityProblem.class);
    }

    private static JwtTokens jwts(String keys) {
        return JwtTokens.of(new JwtSettings(
                ISSUER, "waymark", keys, JwtSettings.ROLES_CLAIM, JwtSettings.GROUPS_CLAIM, Set.of(CallerRole.LOOK)));
    }

    private static JWTClaimsSet.Builder claims() {
        return new JWTClaimsSet.Builder()
                .issuer(ISSUER)
                .audience("waymark")
                .subject("ann")
                .expirationTime(Date.from(Instant.now().plusSeconds(300)))
                .claim("groups", List.of("support"))
                .claim("waymark_roles", "talk decide root");
    }

    private static String signed(JWTClaimsSet claims) throws Exception {
        SignedJWT token = new SignedJWT(
                new JWSHeader.Builder(JWSAlgorithm.RS256)
                        .type(JOSEObjectType.JWT)
                        .keyID("r1")
                        .build(),
                claims);
        token.sign(new RSASSASigner(rsa));
        return token.serialize();
    }

    private static String code(HttpCaller.Answer answer) {
        return answer.status() + " " + answer.text("code");
    }

    /** Sends this text as it is, and returns everything that the server answers. */
    private static String raw(int port, String request) throws IOException {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            socket.setSoTimeout(20_000);
            socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
            socket.getOutputStream().flush();
            InputStream in = socket.getInputStream();
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }
}
