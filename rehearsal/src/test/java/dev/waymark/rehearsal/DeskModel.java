package dev.waymark.rehearsal;

import dev.waymark.agent.Pricing;
import dev.waymark.agent.ToolSpec;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.message.Role;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Usage;
import dev.waymark.model.ModelProvider;
import dev.waymark.model.ModelRequest;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A model for the support desk of a shop. It does only what its instructions say: it searches them for sentences, and
 * looks at the descriptions of the tools and at the fields of their schemas. The model {@code small} reads only the
 * first three sentences.
 */
final class DeskModel implements ModelProvider {
    private static final Pattern ORDER = Pattern.compile("#(\\d+)");
    private static final Pattern NUMBER = Pattern.compile("(\\w+)=(\\d+)");

    @Override
    public Optional<Pricing> pricing(String model) {
        return Optional.of(Pricing.of("3", "15"));
    }

    @Override
    public Reply reply(ModelRequest request) {
        return new Desk(request).reply();
    }

    private static final class Desk {
        private final ModelRequest request;
        private final String rules;
        private final String asked;
        private final Optional<String> order;

        Desk(ModelRequest request) {
            this.request = request;
            List<String> sentences = List.of(request.instructions().orElse("").split("(?<=\\.)\\s+"));
            this.rules = String.join(
                    " ",
                    request.model().equals("small") ? sentences.subList(0, Math.min(3, sentences.size())) : sentences);
            this.asked = request.messages().stream()
                    .filter(message ->
                            message.role() == Role.USER && !message.text().isEmpty())
                    .reduce((first, second) -> second)
                    .map(Message::text)
                    .orElse("");
            Matcher matcher = ORDER.matcher(asked);
            this.order = matcher.find() ? Optional.of(matcher.group(1)) : Optional.empty();
        }

        Reply reply() {
            if (asked.contains("discount")) {
                return says(rules.contains("Never mention the code") ? "There is no discount now." : "Use BEAR10.");
            }
            if (order.isEmpty()) {
                return says(rules.contains("Ask for the number") ? "Which order is it?" : "I can't help you.");
            }
            Optional<ToolSpec> finder = tool("Finds an order");
            if (results().findAny().isEmpty() && finder.isPresent() && rules.contains("Look an order up")) {
                return calls(finder.get(), Map.of("order", order.get()));
            }
            return asked.contains("Refund") ? refund() : says("Order #" + order.get() + " is on its way.");
        }

        private Reply refund() {
            Map<String, Long> known = new LinkedHashMap<>();
            results().forEach(text -> {
                Matcher matcher = NUMBER.matcher(text);
                while (matcher.find()) {
                    known.put(matcher.group(1), Long.parseLong(matcher.group(2)));
                }
            });
            if (known.containsKey("days") && known.get("days") > 30 && rules.contains("Refund only within 30 days")) {
                return says("Order #" + order.get() + " is too old for a refund.");
            }
            Optional<ToolSpec> refund = tool("Refunds an order");
            boolean isRefunded = results().anyMatch(text -> text.contains("refunded"));
            if (!isRefunded && results().noneMatch(text -> text.contains("denied")) && refund.isPresent()) {
                return calls(refund.get(), Map.of("order", order.get(), "cents", known.getOrDefault("cents", 0L)));
            }
            Optional<ToolSpec> mail = tool("Sends a mail");
            if (isRefunded
                    && mail.isPresent()
                    && rules.contains("Confirm a refund by mail")
                    && results().noneMatch(text -> text.contains("mailed"))) {
                return calls(mail.get(), Map.of("text", "Order " + order.get() + " is refunded."));
            }
            return says(isRefunded ? "Order #" + order.get() + " is refunded." : "A refund is not possible.");
        }

        private Stream<String> results() {
            return request.messages().stream()
                    .flatMap(message -> message.toolResults().stream())
                    .map(Part.ToolResult::content);
        }

        private Optional<ToolSpec> tool(String description) {
            return request.tools().stream()
                    .filter(tool -> tool.description().contains(description))
                    .findFirst();
        }

        /** Fills in the fields that the schema names, as a model that knows their meaning would. */
        private Reply calls(ToolSpec tool, Map<String, Object> known) {
            Map<String, Object> args = new LinkedHashMap<>();
            Map<?, ?> properties = (Map<?, ?>) tool.input().field("properties");
            properties.keySet().forEach(field -> args.put((String) field, known.getOrDefault(field, "unknown")));
            return reply(new Part.ToolUse("c" + request.messages().size(), tool.name(), Json.of(args)), "tool_use");
        }

        private Reply says(String sentence) {
            String text = sentence
                    + (rules.contains("Answer in one sentence") ? "" : " Is there anything else that I can do?")
                    + (rules.contains("Sign as the desk") ? " Your desk" : "");
            int most = 4 * request.maxTokens();
            return text.length() <= most
                    ? reply(new Part.Text(text), "end_turn")
                    : reply(new Part.Text(text.substring(0, most)), "max_tokens");
        }

        private Reply reply(Part part, String stop) {
            return new Reply(List.of(part), new Usage(100, 10), stop);
        }
    }
}
