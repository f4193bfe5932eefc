package dev.waymark.e2e;

import dev.waymark.e2e.product.Dev;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;

@Tag("full")
class SecretLeaksTest extends SecretLeaksCases {
    @Override
    Dev serverWithoutWorker(Path folder) {
        return Dev.inMemoryWithoutWorker(folder);
    }
}
