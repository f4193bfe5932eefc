package dev.waymark.conversation.state;

import com.fasterxml.jackson.annotation.JsonIgnore;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.call.Grant;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;

/**
 * The approvals of a thread that also let later calls run.
 *
 * @param last how many were given so far; numbers are never reused, since comparisons with calls are recorded by number
 * @param list in the order in which they were given. The oldest ones that are over may have been dropped.
 */
public record Grants(int last, List<Grant> list) {
    public static final Grants NONE = new Grants(0, List.of());

    /** The maximum number of grants that a thread keeps, since its state contains their schemas. */
    public static final int MAX = 32;

    public Grants {
        list = list == null ? List.of() : List.copyOf(list);
    }

    @JsonIgnore
    public boolean isEmpty() {
        return equals(NONE);
    }

    /** A copy without any grant. */
    public Grants ended() {
        return new Grants(last, List.of());
    }

    public Optional<Grant> find(int number) {
        return list.stream().filter(grant -> grant.number() == number).findFirst();
    }

    /** Whether another grant would exceed the maximum, because all grants are still open. */
    public boolean isFull(Instant now) {
        return list.size() >= MAX && list.stream().allMatch(grant -> grant.isOpen(now));
    }

    /** A copy with the next grant. If there are too many, drops the oldest one that is over. */
    public Grants plus(Grant grant, Instant now) {
        List<Grant> longer = new ArrayList<>(list);
        if (longer.size() >= MAX) {
            longer.stream().filter(each -> !each.isOpen(now)).findFirst().ifPresent(longer::remove);
        }
        longer.add(grant);
        return new Grants(last + 1, longer);
    }

    public Grants with(int number, UnaryOperator<Grant> change) {
        return new Grants(
                last,
                list.stream()
                        .map(grant -> grant.number() == number ? change.apply(grant) : grant)
                        .toList());
    }

    /** The oldest grant that lets this call run. */
    public Optional<Grant> openFor(Call call, Instant now) {
        return list.stream()
                .filter(grant -> grant.isOpen(now) && grant.covers(call))
                .findFirst();
    }

    /** Whether the call has to be compared with the schema of a grant that may let it run. */
    public boolean areToBeComparedWith(Call call, Instant now) {
        return list.stream().anyMatch(grant -> grant.isOpen(now) && grant.isToBeComparedWith(call));
    }

    /** The grants with schemas that a call of this tool may match. */
    public List<Grant> comparable(String tool, Instant now) {
        return list.stream()
                .filter(grant ->
                        grant.tool().equals(tool) && grant.terms().like().isPresent() && grant.isOpen(now))
                .toList();
    }
}
