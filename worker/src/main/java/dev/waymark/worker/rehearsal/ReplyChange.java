package dev.waymark.worker.rehearsal;

import com.fasterxml.jackson.annotation.JsonValue;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * One thing that a reply changes. Equal changes of several replies are counted together.
 *
 * @param tool the tool that is called; empty if the change is not about one call
 * @param effect whether the change is about a tool with side effects
 * @param fields the arguments that have another value
 * @param before what happened to the call before it ran, as in {@link RehearsalReport.ShownCall}; empty if there was no
 *     such call, or if this has not changed
 * @param cause why something else happens to the call before it runs
 */
public record ReplyChange(Kind kind, String tool, boolean effect, List<String> fields, String before, Cause cause) {
    /** Those with side effects come first, and of these the ones that may do harm. */
    static final Comparator<ReplyChange> WORST_FIRST = Comparator.comparing((ReplyChange of) -> !of.effect)
            .thenComparing(ReplyChange::kind)
            .thenComparing(ReplyChange::tool)
            .thenComparing(of -> String.join("\n", of.fields))
            .thenComparing(ReplyChange::before)
            .thenComparing(ReplyChange::cause);

    public ReplyChange {
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

    /** Why something else happens to a call. */
    public enum Cause {
        /** It was not made, it is refused or was, or the rules of that time are not known. */
        NONE(""),
        RULES("because of the new rules"),
        ARGUMENTS("because of its new arguments"),
        /** Each of the two alone would lead to this. */
        EITHER("because of its new arguments or the new rules, either alone is enough"),
        /** None of the two alone would lead to this. */
        TOGETHER("because of its new arguments and the new rules, neither alone is enough"),
        /** Rules can look at spending and at the number of calls. */
        EARLIER("because the calls or the costs before it changed");

        private final String words;

        Cause(String words) {
            this.words = words;
        }

        String words() {
            return words;
        }

        @JsonValue
        String wireName() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    static ReplyChange of(Kind kind) {
        return new ReplyChange(kind, "", kind == Kind.ORDER, List.of(), "", Cause.NONE);
    }

    /** The same change, whatever its cause. */
    ReplyChange anyCause() {
        return new ReplyChange(kind, tool, effect, fields, before, Cause.NONE);
    }

    /** Without the names of arguments, which may be part of what is encrypted. */
    ReplyChange hidden() {
        return new ReplyChange(kind, tool, effect, List.of(), before, cause);
    }

    /** How much a change matters, for people. */
    String weight() {
        return effect ? "side effects" : kind.isAboutWords() ? "words only" : "calls without side effects";
    }

    /**
     * Which recorded replies can change like this, for people; empty if those are all, such as the ones to which a call
     * is added.
     */
    Optional<String> among() {
        return switch (kind) {
            case ARGUMENTS, LEFT_OUT -> Optional.of("call `" + tool + "`");
            case ALLOWED, ASKED, DENIED, REFUSED ->
                Optional.of("call `" + tool + "`").filter(calls -> !before.isEmpty());
            case STRUCTURED, TEXT -> Optional.of("answer");
            case ADDED, ORDER, FINISH -> Optional.empty();
        };
    }

    /** What changes and why, as a sentence. */
    String words() {
        return words("") + (cause == Cause.NONE ? "" : ", " + cause.words());
    }

    /** What changes, as a sentence with this text inside, such as where it does. */
    String words(String where) {
        return (tool.isEmpty() ? "" : "`" + tool + "` ") + kind.words + arguments() + where + was();
    }

    private String arguments() {
        if (kind != Kind.ARGUMENTS) {
            return "";
        }
        return fields.isEmpty()
                ? "other arguments"
                : "another " + fields.stream().map(field -> "`" + field + "`").collect(Collectors.joining(" and "));
    }

    private String was() {
        String was = switch (before) {
            case "allow" -> "before, it ran without asking";
            case "ask" -> "before, it waited for a person";
            case "deny" -> "before, it was denied";
            default -> "before, it was refused";
        };
        return before.isEmpty() ? "" : " (" + was + ")";
    }
}
