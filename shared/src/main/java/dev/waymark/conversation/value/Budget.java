package dev.waymark.conversation.value;

import java.math.BigDecimal;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * What a thread may spend over its whole life. The budget is checked before each model call, so the last call may
 * exceed it.
 */
public record Budget(Optional<Usd> usd, Optional<Long> tokens) {
    /** A budget without limits, neither in dollars nor in tokens. */
    public static final Budget UNLIMITED = new Budget(Optional.empty(), Optional.empty());

    /** A limit in US dollars, such as {@code "2.50"}. */
    public static Budget ofUsd(String dollars) {
        return new Budget(Optional.of(Usd.of(new BigDecimal(dollars))), Optional.empty());
    }

    /** A limit in tokens of input and output. */
    public static Budget ofTokens(long most) {
        return new Budget(Optional.empty(), Optional.of(most));
    }

    /** The remaining budget after this spending, at least zero. */
    public Budget minus(Spent spent) {
        return new Budget(
                usd.map(most -> most.minus(spent.cost().orElse(Usd.ZERO))),
                tokens.map(most -> Math.max(0, most - spent.usage().total())));
    }

    /**
     * The remaining budget after the other one is reserved, at least zero. Limits that the other one does not have stay
     * unchanged.
     */
    public Budget minus(Budget other) {
        return new Budget(
                usd.map(most -> most.minus(other.usd.orElse(Usd.ZERO))),
                tokens.map(most -> Math.max(0, most - other.tokens.orElse(0L))));
    }

    /** One of this many equal shares, rounded down. */
    public Budget share(int parts) {
        return new Budget(usd.map(most -> new Usd(most.picos() / parts)), tokens.map(most -> most / parts));
    }

    /** The lower limit of each kind, from both budgets. */
    public Budget and(Budget other) {
        return new Budget(
                Stream.concat(usd.stream(), other.usd.stream()).min(Usd::compareTo),
                Stream.concat(tokens.stream(), other.tokens.stream()).min(Long::compareTo));
    }

    /** Returns a problem if the spending has reached the budget. */
    public Optional<Problem> overdrawn(Spent spent) {
        return overdrawnUsd(spent)
                .or(() -> overdrawnTokens(spent))
                .map(words -> new Problem(ProblemType.BUDGET, words));
    }

    private Optional<String> overdrawnUsd(Spent spent) {
        Usd cost = spent.cost().orElse(Usd.ZERO);
        return usd.filter(most -> cost.compareTo(most) >= 0)
                .map(most -> "the budget of " + most + " USD is spent: " + cost + " USD");
    }

    private Optional<String> overdrawnTokens(Spent spent) {
        long used = spent.usage().total();
        return tokens.filter(most -> used >= most)
                .map(most -> "the budget of " + most + " tokens is spent: " + used + " tokens");
    }

    /** Whether this budget has a limit that the other one would replace. A missing limit cannot be raised. */
    public boolean has(Budget wanted) {
        return (usd.isPresent() && wanted.usd.isPresent()) || (tokens.isPresent() && wanted.tokens.isPresent());
    }

    /** Why these limits cannot replace the current ones: not higher, or already spent. Empty if they can. */
    public Optional<String> objection(Budget wanted, Spent spent) {
        Usd cost = spent.cost().orElse(Usd.ZERO);
        long used = spent.usage().total();
        Optional<String> dollars = usd.flatMap(own -> wanted.usd.flatMap(most -> most.compareTo(own) <= 0
                ? Optional.of("the budget is " + own + " USD already")
                : most.compareTo(cost) <= 0 ? Optional.of(cost + " USD are spent already") : Optional.empty()));
        return dollars.or(() -> tokens.flatMap(own -> wanted.tokens.flatMap(most -> most <= own
                ? Optional.of("the budget is " + own + " tokens already")
                : most <= used ? Optional.of(used + " tokens are spent already") : Optional.empty())));
    }

    /** A copy in which the other's limits replace those that exist here. A missing limit is not added. */
    public Budget raisedTo(Budget wanted) {
        return new Budget(usd.map(own -> wanted.usd.orElse(own)), tokens.map(own -> wanted.tokens.orElse(own)));
    }
}
