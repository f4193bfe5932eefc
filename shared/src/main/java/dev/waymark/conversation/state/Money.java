package dev.waymark.conversation.state;

import com.fasterxml.jackson.annotation.JsonIgnore;
import dev.waymark.conversation.call.AgentPolicy;
import dev.waymark.conversation.call.Parent;
import dev.waymark.conversation.value.Budget;
import dev.waymark.conversation.value.Spent;
import dev.waymark.conversation.value.Usage;
import dev.waymark.conversation.value.Usd;
import java.util.Objects;
import java.util.Optional;

/**
 * What the thread has spent over its whole life, and what it may spend.
 *
 * @param maxIterations the limit per turn, if it differs from the agent's
 * @param usage the tokens, including failed model calls
 * @param cost the cost, as far as prices are known
 * @param budget the budget if it was raised; otherwise the agent's applies, within the parent's reservation
 */
public record Money(Optional<Integer> maxIterations, Usage usage, Optional<Usd> cost, Optional<Budget> budget) {
    public static final Money UNTOUCHED = new Money(Optional.empty(), Usage.NONE, Optional.empty(), Optional.empty());

    public Money {
        Objects.requireNonNull(usage, "usage");
    }

    @JsonIgnore
    public Spent spent() {
        return new Spent(usage, cost);
    }

    public Optional<Integer> iterationLimit(Optional<AgentPolicy> policy) {
        return maxIterations.or(() -> policy.map(AgentPolicy::maxIterations));
    }

    public Budget limits(Optional<AgentPolicy> policy, Optional<Parent> parent) {
        return budget.orElseGet(() -> policy.flatMap(AgentPolicy::budget)
                .orElse(Budget.UNLIMITED)
                .and(parent.flatMap(Parent::budget).orElse(Budget.UNLIMITED)));
    }

    /** A mutable copy of this part, for applying a fact. */
    public final class Edit {
        public Optional<Integer> maxIterations = Money.this.maxIterations;
        public Usage usage = Money.this.usage;
        public Optional<Usd> cost = Money.this.cost;
        public Optional<Budget> budget = Money.this.budget;

        /** Adds spending, even of a turn that has ended. */
        public void spend(Spent more) {
            Spent sum = new Spent(usage, cost).plus(more);
            usage = sum.usage();
            cost = sum.cost();
        }

        /** Returns the original object if nothing was changed, so that the versions in a timeline share it. */
        public Money done() {
            boolean isUnchanged = maxIterations == Money.this.maxIterations
                    && usage == Money.this.usage
                    && cost == Money.this.cost
                    && budget == Money.this.budget;
            return isUnchanged ? Money.this : new Money(maxIterations, usage, cost, budget);
        }
    }
}
