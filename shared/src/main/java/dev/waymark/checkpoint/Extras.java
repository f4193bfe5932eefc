package dev.waymark.checkpoint;

import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.state.Origin;
import dev.waymark.conversation.value.Json;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Values that a resumed thread holds only to include them in its own checkpoints. */
public final class Extras {
    private final Conversation state;
    private final Json values;

    private Extras(Conversation state) {
        this.state = state;
        this.values = state.origin().flatMap(Origin::extras).orElse(Json.EMPTY_OBJECT);
    }

    public static Extras of(Conversation state) {
        return new Extras(state);
    }

    /**
     * The cost of the thread in dollars. A thread that started before costs were counted has only the cost from its
     * checkpoint.
     */
    public double cost() {
        return state.cost()
                .map(cost -> cost.dollars().doubleValue())
                .orElseGet(() -> number("total_cost_usd") + number("budget_spent_usd"));
    }

    private double number(String name) {
        return values.field(name) instanceof Number number ? number.doubleValue() : 0.0;
    }

    public int count(String name) {
        return values.field(name) instanceof Number number ? number.intValue() : 0;
    }

    /** A count that the checkpoint has for its newest turn; zero in later turns. */
    public int countOfTurn(String name) {
        int turn = count("turn");
        return turn == 0 || turn == state.turn().number() ? count(name) : 0;
    }

    @Nullable
    public Object value(String name) {
        return values.field(name);
    }

    public List<?> list(String name) {
        return values.field(name) instanceof List<?> list ? list : List.of();
    }

    /** The object with this name; empty if there is none. */
    public Map<String, Object> object(String name) {
        Map<String, Object> fields = new LinkedHashMap<>();
        if (values.field(name) instanceof Map<?, ?> map) {
            map.forEach((key, value) -> fields.put((String) key, value));
        }
        return fields;
    }
}
