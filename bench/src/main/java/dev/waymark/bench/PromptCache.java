package dev.waymark.bench;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.conversation.value.Sha256;
import dev.waymark.conversation.value.Usage;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Simulates the prompt cache of Anthropic's service, as its page (build-with-claude/prompt-caching) describes it, with
 * a clock of its own. A prefix up to a mark is stored for the mark's time, and found from a later mark within twenty
 * blocks. A changed {@code tool_choice}, {@code thinking} or format changes the prefix of the messages. A token has
 * four characters.
 */
final class PromptCache {
    private static final int CHARACTERS_PER_TOKEN = 4;
    private static final int LOOKBACK = 20;
    private static final int LEAST_TOKENS = 512;
    private static final Duration SHORT = Duration.ofMinutes(5);
    private static final Duration LONG = Duration.ofHours(1);

    private final Map<String, Duration> keptUntil = new HashMap<>();
    private Duration now = Duration.ZERO;

    void pass(Duration time) {
        now = now.plus(time);
    }

    /** A block of a prompt: the key of the prefix that it ends, its tokens so far, and for how long it is to be kept. */
    private record Block(String prefix, long tokens, Duration kept) {
        boolean isMarked() {
            return !kept.isZero();
        }
    }

    /** Returns the input usage of this request, and adds its prefixes to the cache. */
    Usage read(JsonNode request) {
        List<Block> blocks = blocks(request);
        long all = blocks.get(blocks.size() - 1).tokens();
        long read = 0;
        long marked = 0;
        for (int i = 0; i < blocks.size(); i++) {
            if (blocks.get(i).isMarked() && blocks.get(i).tokens() >= LEAST_TOKENS) {
                marked = blocks.get(i).tokens();
                for (int j = i; j >= Math.max(0, i - LOOKBACK); j--) {
                    Block before = blocks.get(j);
                    if (keptUntil.getOrDefault(before.prefix(), Duration.ZERO).compareTo(now) > 0) {
                        read = Math.max(read, before.tokens());
                        keep(before.prefix(), blocks.get(i).kept());
                        break;
                    }
                }
            }
        }
        blocks.stream().filter(Block::isMarked).forEach(block -> keep(block.prefix(), block.kept()));
        return new Usage(all, 10, read, Math.max(0, marked - read));
    }

    private void keep(String prefix, Duration time) {
        keptUntil.merge(prefix, now.plus(time), (one, other) -> one.compareTo(other) > 0 ? one : other);
    }

    private static List<Block> blocks(JsonNode request) {
        List<Block> blocks = new ArrayList<>();
        request.path("tools").forEach(tool -> add(blocks, "tool", tool));
        request.path("system").forEach(text -> add(blocks, "system", text));
        String settings =
                request.path("tool_choice").toString() + request.path("thinking") + request.at("/output_config/format");
        for (JsonNode message : request.path("messages")) {
            message.path("content")
                    .forEach(
                            block -> add(blocks, settings + message.path("role").asText(), block));
        }
        return blocks;
    }

    private static void add(List<Block> blocks, String kind, JsonNode content) {
        ObjectNode bare = content.deepCopy();
        JsonNode mark = bare.remove("cache_control");
        String before = blocks.isEmpty() ? "" : blocks.get(blocks.size() - 1).prefix();
        long tokens = blocks.isEmpty() ? 0 : blocks.get(blocks.size() - 1).tokens();
        String text = bare.toString();
        Duration kept = mark == null ? Duration.ZERO : mark.path("ttl").asText().equals("1h") ? LONG : SHORT;
        blocks.add(new Block(Sha256.hex(before + kind + text), tokens + text.length() / CHARACTERS_PER_TOKEN, kept));
    }
}
