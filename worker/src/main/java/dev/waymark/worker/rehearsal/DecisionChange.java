package dev.waymark.worker.rehearsal;

import com.fasterxml.jackson.annotation.JsonValue;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * One thing that a decision changes. Equal changes of several decisions are counted together.
 *
 * @param tool the tool that is called; empty if the change is not about one call
 * @param effect whether the change is about a tool with side effects
 * @param fields the arguments that have another value
 * @param before what happened to the call before it ran, as in {@link RehearsalReport.ShownCall}; empty if there was no
 *     such call, or if this has not changed
 * @param ruled whether the rules would decide otherwise about the call as it was, too
 */
public record DecisionChange(
        Kind kind, String tool, boolean effect, List<String> fields, String before, boolean ruled) {
    /** Those with side effects come first, and of these the ones that may do harm. */
    static final Comparator<DecisionChange> WORST_FIRST = Comparator.comparing((DecisionChange of) -> !of.effect)
            .thenComparing(DecisionChange::kind)
            .thenComparing(DecisionChange::tool)
            .thenComparing(of -> String.join("\n", of.fields))
            .thenComparing(DecisionChange::before)
            .thenComparing(of -> !of.ruled);

    public DecisionChange {
        fields = List.copyOf(fields);
    }

    /** What changes, in the order in which people should look at it. */
    public enum Kind {
        ALLOWED("would run without asking a person"),
        ADDED("would be called where it was not, or more often"),
        ARGUMENTS("would be called with "),
        ORDER("calls would come in another order"),
        ASKED("would wait until a person approves it"),
        LEFT_OUT("would be called less often, or not at all"),
        DENIED("would be denied by the rules"),
        REFUSED("would be refused as an invalid call"),
        STRUCTURED("the JSON of the answer would be another one"),
        TEXT("the answer would say something else"),
        FINISH("the reply would end for another reason");

        private final String words;

        Kind(String words) {
            this.words = words;
        }

        /** That something else happens to a call before it runs. */
        static Kind ofFate(String fate) {
            return switch (fate) {
                case "allow" -> ALLOWED;
                case "ask" -> ASKED;
                case "deny" -> DENIED;
                default -> REFUSED;
            };
        }

        /** An aspect of a whole reply. The others are about single calls. */
        static Optional<Kind> ofAspect(Aspect aspect) {
            return Arrays.stream(values())
                    .filter(kind -> kind == ORDER || kind.isAboutWords())
                    .filter(kind -> kind.name().equals(aspect.name()))
                    .findFirst();
        }

        private boolean isAboutWords() {
            return compareTo(STRUCTURED) >= 0;
        }

        @JsonValue
        String wireName() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    static DecisionChange of(Kind kind) {
        return new DecisionChange(kind, "", kind == Kind.ORDER, List.of(), "", false);
    }

    /** Without the names of arguments, which may be part of what is encrypted. */
    DecisionChange hidden() {
        return new DecisionChange(kind, tool, effect, List.of(), before, ruled);
    }

    /** How much a change matters, for people. */
    String weight() {
        return effect ? "side effects" : kind.isAboutWords() ? "words only" : "calls without side effects";
    }

    /** What changes, as a sentence with this text inside, such as where it does. */
    String words(String where) {
        return (tool.isEmpty() ? "" : "`" + tool + "` ") + kind.words + arguments() + where + reason();
    }

    private String arguments() {
        if (kind != Kind.ARGUMENTS) {
            return "";
        }
        return fields.isEmpty()
                ? "other arguments"
                : "another " + fields.stream().map(field -> "`" + field + "`").collect(Collectors.joining(" and "));
    }

    private String reason() {
        String was = switch (before) {
            case "allow" -> "before, it ran without asking";
            case "ask" -> "before, it waited for a person";
            case "deny" -> "before, it was denied";
            default -> "before, it was refused";
        };
        String why = ruled ? ", because the approval rules changed" : ", because its arguments changed";
        return before.isEmpty() ? "" : (before.equals("refused") || kind == Kind.REFUSED ? "" : why) + " (" + was + ")";
    }
}
