package dev.waymark.rehearsal;

import dev.waymark.agent.Pricing;
import dev.waymark.conversation.message.Reply;
import dev.waymark.model.ModelFailure;
import dev.waymark.model.ModelProvider;
import dev.waymark.model.ModelRequest;
import java.util.Optional;

/** A provider whose models cost nothing. */
record FreeModel(ModelProvider provider) implements ModelProvider {
    @Override
    public Reply reply(ModelRequest request) throws ModelFailure, InterruptedException {
        return provider.reply(request);
    }

    @Override
    public Optional<Pricing> pricing(String model) {
        return Optional.of(Pricing.FREE);
    }
}
