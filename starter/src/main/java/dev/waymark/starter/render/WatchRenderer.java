package dev.waymark.starter.render;

import dev.waymark.client.CheckpointLoaded;
import dev.waymark.client.CheckpointSaved;
import dev.waymark.client.TextDelta;
import dev.waymark.conversation.Fact;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.display.SafeText;
import dev.waymark.history.Moment;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** One line of {@code watch} for each fact. */
public final class WatchRenderer implements Fact.Cases<String> {
    private static final WatchRenderer STORY = new WatchRenderer();

    private WatchRenderer() {}

    public static String line(Moment moment) {
        String what = moment.fact()
                .map(fact -> pad(fact.type()) + SafeText.line(fact.match(STORY)))
                .orElseGet(() -> pad("run-continued") + moment.runId());
        return line(moment.at(), moment.eventId(), what);
    }

    /** Partial text. */
    public static String line(TextDelta words) {
        String attempt = words.attempt() > 1 ? "(attempt " + words.attempt() + ") " : "";
        return line(words.at(), words.eventId(), pad("text-delta") + attempt + SafeText.line(words.text()));
    }

    public static String line(CheckpointSaved checkpoint) {
        return line(checkpoint.at(), checkpoint.eventId(), pad("checkpoint-saved") + "step " + checkpoint.step());
    }

    public static String line(CheckpointLoaded checkpoint) {
        return line(
                checkpoint.at(),
                checkpoint.eventId(),
                pad("checkpoint-loaded") + "step " + checkpoint.step() + ", messages: " + checkpoint.messagesCount());
    }

    private static String line(Instant at, long eventId, String what) {
        return (at.truncatedTo(ChronoUnit.SECONDS) + "  e" + eventId + "  " + what).stripTrailing();
    }

    private static String pad(String type) {
        return type + " ".repeat(Math.max(1, 18 - type.length()));
    }

    private static String words(Message message) {
        return message.content().stream()
                .map(part -> part instanceof Part.Text text
                        ? OneLine.shortened(text.text())
                        : part instanceof Part.ToolUse use
                                ? "[" + use.id() + "] " + use.name() + " "
                                        + OneLine.shortenedJson(use.input().canonical())
                                : "")
                .collect(Collectors.joining(" "));
    }

    @Override
    public String runStarted(Fact.RunStarted fact) {
        return fact.agent();
    }

    @Override
    public String agentRequested(Fact.AgentRequested fact) {
        return "";
    }

    @Override
    public String agentResolved(Fact.AgentResolved fact) {
        return fact.terms().agent();
    }

    @Override
    public String agentRefused(Fact.AgentRefused fact) {
        return fact.problem().message();
    }

    @Override
    public String modelCalled(Fact.ModelCalled fact) {
        return "step " + fact.step();
    }

    @Override
    public String modelReplied(Fact.ModelReplied fact) {
        return words(Message.assistant(fact.reply().content().toArray(new Part[0])));
    }

    @Override
    public String modelFailed(Fact.ModelFailed fact) {
        return fact.problem().message();
    }

    @Override
    public String summaryRequested(Fact.SummaryRequested fact) {
        return "step " + fact.step();
    }

    @Override
    public String summarised(Fact.Summarised fact) {
        return words(Message.assistant(fact.reply().content().toArray(new Part[0])));
    }

    @Override
    public String summaryFailed(Fact.SummaryFailed fact) {
        return fact.problem().message();
    }

    @Override
    public String toolDispatched(Fact.ToolDispatched fact) {
        return "[" + fact.callId() + "]";
    }

    @Override
    public String toolFinished(Fact.ToolFinished fact) {
        return "[" + fact.callId() + "] " + OneLine.shortened(fact.content());
    }

    @Override
    public String toolInterrupted(Fact.ToolInterrupted fact) {
        return "[" + fact.callId() + "] " + OneLine.shortened(fact.question());
    }

    @Override
    public String toolLost(Fact.ToolLost fact) {
        return "[" + fact.callId() + "] " + fact.problem().message();
    }

    @Override
    public String toolClaimed(Fact.ToolClaimed fact) {
        return "[" + fact.callId() + "] " + fact.tool();
    }

    @Override
    public String toolNotStarted(Fact.ToolNotStarted fact) {
        return "[" + fact.callId() + "] " + OneLine.shortened(fact.reason());
    }

    @Override
    public String verifyDispatched(Fact.VerifyDispatched fact) {
        return "[" + fact.callId() + "]";
    }

    @Override
    public String toolEndedLate(Fact.ToolEndedLate fact) {
        return "[" + fact.callId() + "] reported its outcome late";
    }

    @Override
    public String verifyLeft(Fact.VerifyLeft fact) {
        return "[" + fact.callId() + "] left to another worker";
    }

    @Override
    public String toolVerified(Fact.ToolVerified fact) {
        String found = fact.landed()
                .map(landed -> landed ? "it had taken effect" : "it had not taken effect")
                .orElse("the outcome is still unknown");
        return "[" + fact.callId() + "] " + found;
    }

    @Override
    public String subagentStarted(Fact.SubagentStarted fact) {
        return "[" + fact.callId() + "]";
    }

    @Override
    public String subagentNotStarted(Fact.SubagentNotStarted fact) {
        return "[" + fact.callId() + "] " + fact.reason();
    }

    @Override
    public String subagentFinished(Fact.SubagentFinished fact) {
        return "[" + fact.callId() + "] " + fact.status() + ": " + OneLine.shortened(fact.text());
    }

    @Override
    public String subagentReported(Fact.SubagentReported fact) {
        String asks = fact.report().asks().stream()
                .map(ask -> fact.callId() + "/" + ask.callId())
                .collect(Collectors.joining(", "));
        return "[" + fact.callId() + "] " + (asks.isEmpty() ? "no open requests" : "waits for people: " + asks);
    }

    @Override
    public String decisionPassedOn(Fact.DecisionPassedOn fact) {
        return "[" + fact.callId() + "]";
    }

    @Override
    public String parentTold(Fact.ParentTold fact) {
        return "";
    }

    @Override
    public String subagentsCutOff(Fact.SubagentsCutOff fact) {
        return fact.problem().message();
    }

    @Override
    public String timePassed(Fact.TimePassed fact) {
        return "";
    }

    @Override
    public String userSpoke(Fact.UserSpoke fact) {
        String replaced = fact.replacement()
                .map(messages -> "(" + messages.size() + " messages instead) ")
                .orElse("");
        return replaced
                + (fact.retry()
                        ? "(once more)"
                        : fact.content().map(WatchRenderer::words).orElse(""));
    }

    @Override
    public String humanAnswered(Fact.HumanAnswered fact) {
        return fact.callId().map(id -> "[" + id + "] ").orElse("") + OneLine.shortened(fact.answer());
    }

    @Override
    public String approvalDecided(Fact.ApprovalDecided fact) {
        return fact.callId().map(id -> "[" + id + "] ").orElse("")
                + (fact.approved() ? "approved" : "denied")
                + CallText.by(fact.by(), fact.verified())
                + fact.args()
                        .map(args -> ", with other arguments: " + OneLine.shortenedJson(args.canonical()))
                        .orElse("")
                + fact.reason().map(words -> ": " + OneLine.shortened(words)).orElse("");
    }

    @Override
    public String outcomeSettled(Fact.OutcomeSettled fact) {
        String what = switch (fact.settlement()) {
            case DONE -> "done";
            case RERUN -> "run again";
            case GIVE_UP -> "given up";
        };
        return "[" + fact.callId() + "] " + what;
    }

    @Override
    public String budgetRaised(Fact.BudgetRaised fact) {
        return Stream.of(
                        fact.iterations().map(most -> most + " iterations"),
                        fact.budget().usd().map(most -> most + " USD"),
                        fact.budget().tokens().map(most -> most + " tokens"))
                .flatMap(Optional::stream)
                .collect(Collectors.joining(", "));
    }

    @Override
    public String stopped(Fact.Stopped fact) {
        return fact.by().orElse("");
    }

    @Override
    public String cleared(Fact.Cleared fact) {
        return fact.by().orElse("");
    }

    @Override
    public String closeRequested(Fact.CloseRequested fact) {
        return fact.by().orElse("");
    }

    @Override
    public String cancelRequested(Fact.CancelRequested fact) {
        return "";
    }

    @Override
    public String messageIgnored(Fact.MessageIgnored fact) {
        return fact.signal() + ": " + fact.problem().message();
    }

    @Override
    public String limitReached(Fact.LimitReached fact) {
        return fact.problem().message();
    }
}
