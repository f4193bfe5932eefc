package dev.waymark.tool;

import dev.waymark.agent.ApprovalRule;
import dev.waymark.agent.ToolSpec;
import dev.waymark.conversation.value.Budget;
import dev.waymark.conversation.value.CallVerdict;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Spent;
import dev.waymark.conversation.value.UntrustedWords;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Finds the first rule whose conditions all hold for a call. A rule that can't be evaluated asks a person, and the
 * rules after it are skipped: one of them might allow what this one would deny.
 */
public final class RuleCheck {
    private final ToolSpec tool;
    private final JudgedCall call;
    private final Map<String, Object> looked = new LinkedHashMap<>();

    private RuleCheck(ToolSpec tool, JudgedCall call) {
        this.tool = tool;
        this.call = call;
    }

    /** Decides about the calls that no rule decides. */
    public interface Otherwise<X extends Exception> {
        /** The verdict; empty if a person must decide. */
        Optional<CallVerdict> verdict() throws X;
    }

    /** The verdict about a call of this tool, whether or not it has rules. Judges in Java are not asked. */
    public static CallVerdict verdict(ToolSpec tool, JudgedCall call) {
        return RuleCheck.<RuntimeException>verdict(tool, call, Optional::empty);
    }

    /** The verdict of the first rule that holds or can't be evaluated; if there is none, that of {@code otherwise}. */
    public static <X extends Exception> CallVerdict verdict(ToolSpec tool, JudgedCall call, Otherwise<X> otherwise)
            throws X {
        if (!tool.isRuled()) {
            return tool.approval() ? CallVerdict.ask("approval: always") : CallVerdict.allow("approval: never");
        }
        RuleCheck check = new RuleCheck(tool, call);
        Optional<CallVerdict> found = check.first();
        if (found.isEmpty()) {
            found = otherwise.verdict();
        }
        return found.orElseGet(() -> CallVerdict.ask("no rule decides about this call"))
                .lookingAt(Json.of(check.looked));
    }

    /**
     * Whether a grant with this schema is for these arguments; false if the check fails.
     *
     * @param input the schema of the tool
     */
    public static boolean isLike(Json schema, Json input, Json args) {
        return ConditionSchema.gap(schema, input).isEmpty()
                && ConditionSchema.allows(schema, args).orElse(false);
    }

    /** The rules of a tool that always ask, because their schemas can't be used, with the reasons. */
    public static List<String> problems(ToolSpec tool) {
        List<String> problems = new ArrayList<>();
        for (int i = 0; i < tool.rules().size(); i++) {
            int number = i + 1;
            problem(tool.rules().get(i), tool.input()).ifPresent(why -> problems.add("rule " + number + ": " + why));
        }
        return problems;
    }

    /** Why the rule can't be used for a tool with this input schema; empty if it can. */
    public static Optional<String> problem(ApprovalRule rule, Json input) {
        return rule.problem()
                .or(() -> rule.when()
                        .flatMap(schema -> ConditionSchema.problem(schema, input))
                        .map(why -> "when can't be used: " + why));
    }

    private Optional<CallVerdict> first() {
        List<ApprovalRule> rules = tool.rules();
        for (int i = 0; i < rules.size(); i++) {
            ApprovalRule rule = rules.get(i);
            Optional<String> reason = Optional.empty();
            CallVerdict.Then then;
            try {
                Optional<String> problem = rule.problem();
                problem = problem.or(() -> rule.when().flatMap(schema -> ConditionSchema.gap(schema, tool.input())));
                if (problem.isPresent()) {
                    throw new NotEvaluated(problem.get());
                }
                if (!holds(rule)) {
                    continue;
                }
                then = rule.then();
                reason = rule.reason();
            } catch (NotEvaluated e) {
                then = CallVerdict.Then.ASK;
                reason = Optional.of("it can't be evaluated: " + e.getMessage());
            }
            return Optional.of(new CallVerdict(then, Optional.of(i + 1), reason, Optional.empty()));
        }
        return Optional.empty();
    }

    /** Checks the arguments last, because that takes the longest. */
    private boolean holds(ApprovalRule rule) throws NotEvaluated {
        return holdsForOwner(rule)
                && rule.requestedOver().map(this::isRequestedOver).orElse(true)
                && holdsForSpending(rule)
                && holdsForUntrusted(rule)
                && rule.hours().map(this::isWithin).orElse(true)
                && holdsForArguments(rule);
    }

    private boolean holdsForOwner(ApprovalRule rule) {
        if (rule.owners().isEmpty()) {
            return true;
        }
        looked.put("owner", call.owner().orElse(""));
        return call.owner().filter(rule.owners().get()::contains).isPresent();
    }

    private boolean isRequestedOver(long most) {
        looked.put("requested", call.requested());
        return call.requested() > most;
    }

    private boolean holdsForSpending(ApprovalRule rule) throws NotEvaluated {
        if (rule.spentOver().isEmpty()) {
            return true;
        }
        Budget most = rule.spentOver().get();
        Spent spent = call.spent();
        long tokens = spent.usage().total();
        if (most.tokens().isPresent()) {
            looked.put("tokens", tokens);
            if (tokens > most.tokens().get()) {
                return true;
            }
        }
        if (most.usd().isEmpty()) {
            return false;
        }
        if (spent.cost().isEmpty() && tokens > 0) {
            throw new NotEvaluated("the price of what the thread has spent is not known");
        }
        spent.cost().ifPresent(cost -> looked.put("usd", cost.dollars()));
        return spent.cost().filter(cost -> cost.compareTo(most.usd().get()) > 0).isPresent();
    }

    private boolean holdsForUntrusted(ApprovalRule rule) throws NotEvaluated {
        if (rule.whenUntrusted().isEmpty()) {
            return true;
        }
        UntrustedWords words = call.untrusted()
                .orElseThrow(() -> new NotEvaluated("the thread does not know which words are untrusted"));
        boolean holds = switch (rule.whenUntrusted().get()) {
            case EVER -> words.ever().isPresent();
            case SINCE_MESSAGE -> words.sinceMessage().isPresent();
        };
        looked.put("untrusted", holds ? rule.whenUntrusted().get().wireName() : "no");
        return holds;
    }

    private boolean isWithin(ApprovalRule.Hours hours) {
        int hour = call.at().atZone(hours.zone()).getHour();
        looked.put("hour", hour + " " + hours.zone().getId());
        return hours.include(hour);
    }

    private boolean holdsForArguments(ApprovalRule rule) throws NotEvaluated {
        Optional<Json> schema = rule.when();
        if (schema.isEmpty()) {
            return true;
        }
        return (rule.then() == CallVerdict.Then.ALLOW
                        ? ConditionSchema.allows(schema.get(), call.args())
                        : ToolArguments.matches(schema.get(), call.args()))
                .orElseThrow(() -> new NotEvaluated("its schema is broken, or checking it takes too long"));
    }

    private static final class NotEvaluated extends Exception {
        private static final long serialVersionUID = 1;

        NotEvaluated(String message) {
            super(message);
        }
    }
}
