package dev.waymark.starter.command;

import dev.waymark.cli.CommandGroup;
import dev.waymark.cli.HelpEntry;
import dev.waymark.conversation.fact.PersonFact.BudgetRaised;
import dev.waymark.conversation.value.Budget;
import dev.waymark.conversation.value.Usd;
import dev.waymark.starter.options.WaitingVerb;
import dev.waymark.starter.render.OutcomeRenderer;
import java.math.BigDecimal;
import java.util.Optional;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

@HelpEntry(
        group = CommandGroup.DECIDE,
        examples = {"budget trip --usd 2.50", "budget trip --iterations 20"})
@Command(name = "budget", description = "Raises a limit. A turn that ended at the limit continues.")
public final class BudgetCommand extends WaitingVerb {
    @Option(
            names = "--usd",
            paramLabel = "X",
            description = "The thread's maximum cost in US dollars.",
            converter = Dollars.class)
    private Usd usd;

    @Option(names = "--tokens", paramLabel = "N", description = "The thread's maximum number of tokens.")
    private Long tokens;

    @Option(names = "--iterations", paramLabel = "N", description = "The maximum number of model calls per turn.")
    private Integer iterations;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() {
        if (usd == null && tokens == null && iterations == null) {
            throw new ParameterException(spec.commandLine(), "no limit given: use --usd, --tokens or --iterations");
        }
        return waiting(client -> {
            return OutcomeRenderer.print(output, client.raise(thread, raise()).await());
        });
    }

    private BudgetRaised raise() {
        Budget most = new Budget(Optional.ofNullable(usd), Optional.ofNullable(tokens));
        return new BudgetRaised(Optional.ofNullable(iterations), most, Optional.empty());
    }

    static final class Dollars implements ITypeConverter<Usd> {
        @Override
        public Usd convert(String value) {
            try {
                return Usd.of(new BigDecimal(value));
            } catch (NumberFormatException e) {
                throw new TypeConversionException("'" + value + "' is not a number: write 5 or 1.50");
            } catch (IllegalArgumentException e) {
                throw new TypeConversionException("'" + value + "' is not a positive amount: write 5 or 1.50");
            }
        }
    }
}
