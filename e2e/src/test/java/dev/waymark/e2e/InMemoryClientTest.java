package dev.waymark.e2e;

import dev.waymark.e2e.product.Dev;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;

@Tag("full")
class InMemoryClientTest extends ClientContract {
    @Override
    Dev start(Path agents) {
        return Dev.inMemory(agents);
    }
}
