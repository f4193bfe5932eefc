package dev.waymark.starter.cli;

import dev.waymark.saver.CheckpointSaver;
import dev.waymark.saver.SaverException;
import dev.waymark.saver.SaverTarget;
import dev.waymark.starter.client.WaymarkException;
import java.util.function.Function;
import java.util.logging.Level;
import java.util.logging.Logger;

/** Opens what {@code --to} and {@code --from} name, and says what is wrong with it as every other error is said. */
final class Savers {
    /** Held on to: a logger that nobody holds forgets its level. The driver says what is wrong by exceptions as well. */
    private static final Logger DRIVER = Logger.getLogger("org.postgresql");

    private Savers() {}

    static <T> T using(String target, Function<CheckpointSaver, T> use) {
        DRIVER.setLevel(Level.OFF);
        try (CheckpointSaver saver = SaverTarget.parse(target).open()) {
            return use.apply(saver);
        } catch (SaverException e) {
            throw new WaymarkException.Refused(e.type(), String.valueOf(e.getMessage()), e.remedy());
        }
    }
}
