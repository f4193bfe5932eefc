package dev.waymark.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URLEncoder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.concurrent.TimeUnit;

/** A page with the chat of an npm package, served to browsers from its own origin. */
final class ChatPage implements AutoCloseable {
    private static final Path SOURCES = Path.of("src", "test", "npm").toAbsolutePath();
    private static final String CONTROLS = "controls.mjs";
    private static final int BUNDLE_MINUTES = 5;

    private final HttpServer http;

    private ChatPage(HttpServer http) {
        this.http = http;
    }

    static ChatPage ofAgUi() throws Exception {
        NodeClients.install();
        return serving(NodeClients.HOME, SOURCES.resolve("clients"), "agui-chat");
    }

    static ChatPage ofAiSdk() throws Exception {
        NodeClients.install();
        return serving(NodeClients.HOME, SOURCES.resolve("clients"), "ui-chat");
    }

    static ChatPage ofCopilotKit() throws Exception {
        Path home = Path.of("target", "copilotkit").toAbsolutePath();
        NodeClients.install("copilotkit", home);
        return serving(home, SOURCES.resolve("copilotkit"), "chat");
    }

    /** @param home the directory in which the packages are installed */
    private static ChatPage serving(Path home, Path sources, String script) throws Exception {
        byte[] program;
        byte[] styles;
        try (FileChannel lock = NodeClients.lockFile(home)) {
            lock.lock();
            Path file = home.resolve(script + ".mjs");
            Files.copy(sources.resolve(script + ".mjs"), file, StandardCopyOption.REPLACE_EXISTING);
            Files.copy(SOURCES.resolve(CONTROLS), home.resolve(CONTROLS), StandardCopyOption.REPLACE_EXISTING);
            bundle(home, script);
            program = Files.readAllBytes(home.resolve("out/" + script + ".js"));
            Path css = home.resolve("out/" + script + ".css");
            styles = Files.exists(css) ? Files.readAllBytes(css) : new byte[0];
        }
        HttpServer http = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        ChatPage page = new ChatPage(http);
        page.serve("/page.html", "text/html", """
                <!doctype html><meta charset="utf-8"><title>Chat</title><link rel="stylesheet" href="chat.css">
                <div id="root" style="height: 90vh"></div><script type="module" src="chat.js"></script>
                """.getBytes(StandardCharsets.UTF_8));
        page.serve("/chat.js", "text/javascript", program);
        page.serve("/chat.css", "text/css", styles);
        http.start();
        return page;
    }

    private static void bundle(Path home, String script) throws Exception {
        Process esbuild;
        Path log = home.resolve(script + ".log");
        try {
            esbuild = new ProcessBuilder(
                            "node_modules/.bin/esbuild",
                            script + ".mjs",
                            "--bundle",
                            "--format=esm",
                            "--outdir=out",
                            "--loader:.woff2=dataurl",
                            "--loader:.woff=dataurl",
                            "--loader:.ttf=dataurl",
                            "--define:process.env.NODE_ENV=\"production\"")
                    .directory(home.toFile())
                    .redirectErrorStream(true)
                    .redirectOutput(log.toFile())
                    .start();
        } catch (IOException e) {
            assumeTrue(false, "no esbuild for this machine: " + e.getMessage());
            return;
        }
        assertThat(esbuild.waitFor(BUNDLE_MINUTES, TimeUnit.MINUTES)).isTrue();
        assertThat(esbuild.exitValue()).as(Files.readString(log)).isZero();
    }

    private void serve(String path, String type, byte[] content) {
        http.createContext(path, exchange -> {
            exchange.getResponseHeaders().add("Content-Type", type);
            exchange.sendResponseHeaders(200, content.length == 0 ? -1 : content.length);
            exchange.getResponseBody().write(content);
            exchange.close();
        });
    }

    String origin() {
        return "http://127.0.0.1:" + http.getAddress().getPort();
    }

    /** The address of a new chat. Append {@code &again} for an existing chat. */
    String address(String server, String token, String agent, String thread) {
        return origin() + "/page.html?url=" + URLEncoder.encode(server, StandardCharsets.UTF_8) + "&token=" + token
                + "&agent=" + agent + "&thread=" + thread;
    }

    @Override
    public void close() {
        http.stop(0);
    }
}
