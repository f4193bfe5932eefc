package dev.waymark.rehearsal;

import com.fasterxml.jackson.annotation.JsonValue;
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
 *     such call, or if nothing changed in this respect
 * @param cause why the call is treated differently before it runs
 */
public record ReplyChange(Kind kind, String tool, boolean effect, List<String> fields, String before, Cause cause) {
    /** Puts changes of calls with side effects first, and among these the most harmful kinds. */
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

        /** The kind of change after which a call has this fate. */
        static Kind ofFate(String fate) {
            return switch (fate) {
                case "allow" -> ALLOWED;
                case "ask" -> ASKED;
                case "deny" -> DENIED;
                default -> REFUSED;
            };
        }

        private boolean isAboutWords() {
            return compareTo(STRUCTURED) >= 0;
        }

        @JsonValue
        String wireName() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /** Why a call is treated differently before it runs. */
    public enum Cause {
        /** The call is new, it is or was refused, or the rules of that time are not known. */
        NONE(""),
        RULES("because of the new rules"),
        ARGUMENTS("because of its new arguments"),
        /** Either of the two alone has this effect. */
        EITHER("because of its new arguments or the new rules, either alone is enough"),
        /** Neither of the two alone has this effect. */
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

    /** A change of a whole reply, and not of one call. */
    static ReplyChange of(Kind kind) {
        return new ReplyChange(kind, "", kind == Kind.ORDER, List.of(), "", Cause.NONE);
    }

    /** This change without its cause. */
    ReplyChange anyCause() {
        return new ReplyChange(kind, tool, effect, fields, before, Cause.NONE);
    }

    /** This change without the names of arguments, which may be encrypted. */
    ReplyChange hidden() {
        return new ReplyChange(kind, tool, effect, List.of(), before, cause);
    }

    /** How much a change matters, for people. */
    String weight() {
        return effect ? "side effects" : kind.isAboutWords() ? "words only" : "calls without side effects";
    }

    /**
     * Describes for people which recorded replies can change like this; empty if all can, for example by an added call.
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

    /** This change and its cause, as a sentence. */
    String words() {
        return words("") + (cause == Cause.NONE ? "" : ", " + cause.words());
    }

    /** This change as a sentence with an inserted text, such as the place of the change. */
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
