package dev.waymark.starter.render;

import dev.waymark.client.ThreadEvent;
import dev.waymark.conversation.call.Suspension;
import dev.waymark.conversation.decision.CallApproval;
import dev.waymark.conversation.decision.CallSettlement;
import dev.waymark.conversation.fact.AnnouncementFact;
import dev.waymark.conversation.fact.Fact;
import dev.waymark.conversation.fact.ModelFact;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.fact.SubagentFact;
import dev.waymark.conversation.fact.ThreadFact;
import dev.waymark.conversation.fact.ToolFact;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.value.FormAction;
import dev.waymark.display.SafeText;
import dev.waymark.timeline.EventPlace;
import dev.waymark.timeline.Moment;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Formats each fact as a line of {@code watch}. */
public final class WatchRenderer implements Fact.Cases<String> {
    private static final WatchRenderer STORY = new WatchRenderer();

    private WatchRenderer() {}

    /** Formats an event of a thread; empty if {@code watch} does not show it. */
    public static Optional<String> line(ThreadEvent event) {
        if (event instanceof ThreadEvent.Happened happened) {
            return Optional.of(line(happened.moment()));
        }
        if (event instanceof ThreadEvent.Said said) {
            return Optional.of(delta("text-delta", said.words()));
        }
        if (event instanceof ThreadEvent.Reasoned reasoned) {
            return Optional.of(delta("reasoning-delta", reasoned.words()));
        }
        if (event instanceof ThreadEvent.CallsRunning running) {
            String calls = running.calls().stream()
                    .map(call -> "[" + call.callId() + "] " + call.tool())
                    .collect(Collectors.joining(", "));
            return Optional.of(line(running.at(), running.eventId(), "calls-running", SafeText.line(calls)));
        }
        if (event instanceof ThreadEvent.Saved saved) {
            return Optional.of(line(saved.at(), saved.eventId(), "checkpoint-saved", "step " + saved.step()));
        }
        if (event instanceof ThreadEvent.Loaded loaded) {
            String what = "step " + loaded.step() + ", messages: " + loaded.messagesCount();
            return Optional.of(line(loaded.at(), loaded.eventId(), "checkpoint-loaded", what));
        }
        return Optional.empty();
    }

    private static String line(Moment moment) {
        String what = moment.fact()
                .map(fact -> pad(fact.type()) + words(fact))
                .orElseGet(() -> pad("run-continued") + moment.runId());
        return line(moment.at(), moment.place(), what);
    }

    /** Formats a fact, without its type. */
    public static String words(Fact fact) {
        return SafeText.line(fact.match(STORY));
    }

    private static String delta(String type, ThreadEvent.TextDelta words) {
        String attempt = words.attempt() > 1 ? "(attempt " + words.attempt() + ") " : "";
        return line(words.at(), words.eventId(), type, attempt + SafeText.line(words.text()));
    }

    private static String line(Instant at, long eventId, String type, String what) {
        return line(at, EventPlace.after(eventId), pad(type) + what);
    }

    private static String line(Instant at, EventPlace place, String what) {
        return (at.truncatedTo(ChronoUnit.SECONDS) + "  " + place + "  " + what).stripTrailing();
    }

    private static String pad(String type) {
        return type + " ".repeat(Math.max(1, 18 - type.length()));
    }

    /** Formats a reply, preceded by the name of the fallback model if it gave the reply. */
    private static String words(Reply reply) {
        return reply.model().map(other -> "(" + other + ") ").orElse("") + words(reply.message());
    }

    /** The text and the calls. If there is no text, the reasoning takes its place. */
    private static String words(Message message) {
        String reasoning = message.text().isEmpty() && !message.reasoning().isEmpty()
                ? "(thinking) " + OneLine.shortened(message.reasoning()) + " "
                : "";
        return reasoning + spoken(message);
    }

    private static String spoken(Message message) {
        return message.content().stream()
                .filter(part -> !(part instanceof Part.Reasoning))
                .map(part -> part instanceof Part.Text text
                        ? OneLine.shortened(text.text())
                        : part instanceof Part.ToolUse use
                                ? "[" + use.id() + "] " + CallText.line(use.name(), use.input())
                                : "")
                .collect(Collectors.joining(" "));
    }

    @Override
    public String runStarted(ThreadFact.RunStarted fact) {
        return fact.agent();
    }

    @Override
    public String agentRequested(ThreadFact.AgentRequested fact) {
        return "";
    }

    @Override
    public String agentResolved(ThreadFact.AgentResolved fact) {
        return fact.terms().agent();
    }

    @Override
    public String agentRefused(ThreadFact.AgentRefused fact) {
        return fact.problem().message();
    }

    @Override
    public String modelCalled(ModelFact.ModelCalled fact) {
        return "step " + fact.step();
    }

    @Override
    public String modelReplied(ModelFact.ModelReplied fact) {
        return words(fact.reply());
    }

    @Override
    public String modelFailed(ModelFact.ModelFailed fact) {
        return fact.problem().message();
    }

    @Override
    public String summaryRequested(ModelFact.SummaryRequested fact) {
        return "step " + fact.step();
    }

    @Override
    public String summarised(ModelFact.Summarised fact) {
        return words(fact.reply());
    }

    @Override
    public String summaryFailed(ModelFact.SummaryFailed fact) {
        return fact.problem().message();
    }

    @Override
    public String toolDispatched(ToolFact.ToolDispatched fact) {
        return "[" + fact.callId() + "]";
    }

    @Override
    public String toolFinished(ToolFact.ToolFinished fact) {
        return "[" + fact.callId() + "] " + OneLine.shortened(fact.content());
    }

    @Override
    public String toolInterrupted(ToolFact.ToolInterrupted fact) {
        return "[" + fact.callId() + "] " + OneLine.shortened(fact.question());
    }

    @Override
    public String toolSuspended(ToolFact.ToolSuspended fact) {
        Suspension how = fact.suspension();
        return "[" + fact.callId() + "] "
                + how.form()
                        .map(form -> "needs input: " + OneLine.shortened(form.words("it")))
                        .or(() -> how.task().map(task -> "continues as task " + SafeText.line(task)))
                        .orElse("is to be repeated");
    }

    @Override
    public String taskFollowed(ToolFact.TaskFollowed fact) {
        return "[" + fact.callId() + "]";
    }

    @Override
    public String taskCancelRequested(ToolFact.TaskCancelRequested fact) {
        return "[" + fact.callId() + "]";
    }

    @Override
    public String taskCancelled(ToolFact.TaskCancelled fact) {
        return "[" + fact.callId() + "] "
                + fact.problem()
                        .map(why -> "its server could not be told: " + OneLine.shortened(why.message()))
                        .orElse("its server was told");
    }

    @Override
    public String toolLost(ToolFact.ToolLost fact) {
        return "[" + fact.callId() + "] " + fact.problem().message();
    }

    @Override
    public String toolClaimed(ToolFact.ToolClaimed fact) {
        return "[" + fact.callId() + "] " + fact.tool();
    }

    @Override
    public String toolNotStarted(ToolFact.ToolNotStarted fact) {
        return "[" + fact.callId() + "] " + OneLine.shortened(fact.reason());
    }

    @Override
    public String verdictRequested(ToolFact.VerdictRequested fact) {
        return "[" + fact.callId() + "]";
    }

    @Override
    public String verdictGiven(ToolFact.VerdictGiven fact) {
        return "[" + fact.callId() + "] " + SafeText.line(fact.verdict().words());
    }

    @Override
    public String verdictFailed(ToolFact.VerdictFailed fact) {
        return "[" + fact.callId() + "] " + fact.problem().message();
    }

    @Override
    public String verifyDispatched(ToolFact.VerifyDispatched fact) {
        return "[" + fact.callId() + "]";
    }

    @Override
    public String toolEndedLate(ToolFact.ToolEndedLate fact) {
        return "[" + fact.callId() + "] reported its outcome late";
    }

    @Override
    public String verifyLeft(ToolFact.VerifyLeft fact) {
        return "[" + fact.callId() + "] left to another worker";
    }

    @Override
    public String toolVerified(ToolFact.ToolVerified fact) {
        String found = fact.landed()
                .map(landed -> landed ? "it had taken effect" : "it had not taken effect")
                .orElse("the outcome is still unknown");
        return "[" + fact.callId() + "] " + found;
    }

    @Override
    public String subagentStarted(SubagentFact.SubagentStarted fact) {
        return "[" + fact.callId() + "]";
    }

    @Override
    public String subagentNotStarted(SubagentFact.SubagentNotStarted fact) {
        return "[" + fact.callId() + "] " + fact.reason();
    }

    @Override
    public String subagentFinished(SubagentFact.SubagentFinished fact) {
        return "[" + fact.callId() + "] " + fact.status() + ": " + OneLine.shortened(fact.text());
    }

    @Override
    public String subagentReported(SubagentFact.SubagentReported fact) {
        String asks = fact.report().asks().stream()
                .map(ask -> fact.callId() + "/" + ask.callId())
                .collect(Collectors.joining(", "));
        return "[" + fact.callId() + "] " + (asks.isEmpty() ? "no open requests" : "waits for people: " + asks);
    }

    @Override
    public String decisionPassedOn(SubagentFact.DecisionPassedOn fact) {
        return "[" + fact.callId() + "]";
    }

    @Override
    public String parentTold(SubagentFact.ParentTold fact) {
        return "";
    }

    @Override
    public String subagentsCutOff(SubagentFact.SubagentsCutOff fact) {
        return fact.problem().message();
    }

    @Override
    public String announcementBegun(AnnouncementFact.AnnouncementBegun fact) {
        return "";
    }

    @Override
    public String announcementEnded(AnnouncementFact.AnnouncementEnded fact) {
        return fact.problem()
                .map(why -> "a receiver was not told of everything: " + OneLine.shortened(why.message()))
                .orElse("");
    }

    @Override
    public String timePassed(ThreadFact.TimePassed fact) {
        return "";
    }

    @Override
    public String userSpoke(PersonFact.UserSpoke fact) {
        String replaced = fact.replacement()
                .map(messages -> "(" + messages.size() + " messages instead) ")
                .orElse("");
        return replaced
                + (fact.retry()
                        ? "(once more)"
                        : fact.content().map(WatchRenderer::words).orElse(""));
    }

    @Override
    public String humanAnswered(PersonFact.HumanAnswered fact) {
        return fact.callId().map(id -> "[" + id + "] ").orElse("")
                + fact.action()
                        .filter(action -> action != FormAction.ACCEPT)
                        .map(action -> action == FormAction.DECLINE ? "declined" : "cancelled")
                        .orElseGet(() -> OneLine.shortened(fact.answer()));
    }

    @Override
    public String grantRevoked(PersonFact.GrantRevoked fact) {
        return "grant " + fact.grant() + " revoked"
                + fact.by().map(who -> " by " + SafeText.line(who)).orElse("");
    }

    @Override
    public String approvalDecided(PersonFact.ApprovalDecided fact) {
        CallApproval decision = new CallApproval(
                        fact.approved(), fact.args().isPresent(), fact.by(), fact.reason(), Instant.EPOCH)
                .verifiedAs(fact.verified())
                .granting(fact.grant());
        return fact.callId().map(id -> "[" + id + "] ").orElse("") + CallText.words(decision, fact.args());
    }

    @Override
    public String outcomeSettled(PersonFact.OutcomeSettled fact) {
        CallSettlement settled =
                new CallSettlement(fact.settlement(), fact.by(), fact.verified(), fact.note(), Instant.EPOCH);
        return "[" + fact.callId() + "] " + CallText.words(settled, OneLine::shortened);
    }

    @Override
    public String budgetRaised(PersonFact.BudgetRaised fact) {
        return Stream.of(
                        fact.iterations().map(most -> most + " iterations"),
                        fact.budget().usd().map(most -> most + " USD"),
                        fact.budget().tokens().map(most -> most + " tokens"))
                .flatMap(Optional::stream)
                .collect(Collectors.joining(", "));
    }

    @Override
    public String stopped(PersonFact.Stopped fact) {
        return Stream.of(fact.by(), fact.said().map(words -> "after: " + OneLine.shortened(words)))
                .flatMap(Optional::stream)
                .collect(Collectors.joining(", "));
    }

    @Override
    public String cleared(PersonFact.Cleared fact) {
        return fact.by().orElse("");
    }

    @Override
    public String closeRequested(PersonFact.CloseRequested fact) {
        return fact.by().orElse("");
    }

    @Override
    public String cancelRequested(ThreadFact.CancelRequested fact) {
        return "";
    }

    @Override
    public String messageIgnored(ThreadFact.MessageIgnored fact) {
        return fact.signal() + ": " + fact.problem().message();
    }

    @Override
    public String limitReached(ThreadFact.LimitReached fact) {
        return fact.problem().message();
    }
}
