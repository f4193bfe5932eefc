package dev.waymark.rehearsal;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/** A recorded call with its counterpart: the identical call if there is one, or the next one of the same tool. */
record CallPair<T>(Optional<T> before, Optional<T> now) {
    /** Pairs the calls of two replies. Calls that are no longer made come last. */
    static <T> List<CallPair<T>> of(
            List<T> before, List<T> now, Function<T, String> tool, Function<T, String> arguments) {
        Function<T, String> call = each -> tool.apply(each) + "\n" + arguments.apply(each);
        List<T> left = new ArrayList<>(before);
        List<Optional<T>> partners = new ArrayList<>(
                now.stream().map(each -> taken(left, each, call)).toList());
        for (int i = 0; i < now.size(); i++) {
            if (partners.get(i).isEmpty()) {
                partners.set(i, taken(left, now.get(i), tool));
            }
        }
        List<CallPair<T>> pairs = new ArrayList<>();
        for (int i = 0; i < now.size(); i++) {
            pairs.add(new CallPair<>(partners.get(i), Optional.of(now.get(i))));
        }
        left.forEach(each -> pairs.add(new CallPair<>(Optional.of(each), Optional.empty())));
        return pairs;
    }

    private static <T> Optional<T> taken(List<T> left, T call, Function<T, String> key) {
        Optional<T> taken = left.stream()
                .filter(each -> key.apply(each).equals(key.apply(call)))
                .findFirst();
        taken.ifPresent(left::remove);
        return taken;
    }
}
