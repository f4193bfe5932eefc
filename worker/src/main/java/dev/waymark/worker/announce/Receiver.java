package dev.waymark.worker.announce;

import java.nio.file.Path;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** Where announcements go. Addresses and values may contain <code>${NAME}</code> for variables of the environment. */
public sealed interface Receiver {
    /**
     * An address that receives signed requests as specified by Standard Webhooks.
     *
     * @param secrets at least one, {@code whsec_…} or {@code whsk_…}: the message is signed with each of them, so that
     *     a secret can be replaced while the receiver knows only the old one
     * @param allowPrivate whether the address may be private, loopback or link-local
     */
    record Webhook(String url, List<String> secrets, boolean allowPrivate) implements Receiver {
        public Webhook {
            Objects.requireNonNull(url, "url");
            secrets = List.copyOf(secrets);
            if (secrets.isEmpty()) {
                throw new IllegalArgumentException("a webhook needs a secret, to sign what it is sent");
            }
        }

        /** Omits the address and the secrets. */
        @Override
        public String toString() {
            return "Webhook[]";
        }
    }

    /** An incoming webhook of Slack, or of a chat that takes the same messages. */
    record Slack(String url, boolean allowPrivate) implements Receiver {
        public Slack {
            Objects.requireNonNull(url, "url");
        }

        /** Omits the address, which is a secret. */
        @Override
        public String toString() {
            return "Slack[]";
        }
    }

    /** A program that gets the announcement on its stdin, and confirms its receipt with exit code 0. */
    record Command(List<String> program, Map<String, String> env, Path directory) implements Receiver {
        public Command {
            program = List.copyOf(program);
            env = Collections.unmodifiableMap(new LinkedHashMap<>(env));
            Objects.requireNonNull(directory, "directory");
        }
    }
}
