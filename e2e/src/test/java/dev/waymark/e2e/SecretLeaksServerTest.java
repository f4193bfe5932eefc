package dev.waymark.e2e;

import dev.waymark.e2e.product.Dev;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;

@Tag("server")
@Tag("full")
class SecretLeaksServerTest extends SecretLeaksCases {
    @Override
    Dev serverWithoutWorker(Path folder) {
        return Dev.durableWithoutWorker(folder);
    }
}
