package dev.waymark.e2e.product;

import io.temporal.api.testservice.v1.SleepRequest;
import io.temporal.serviceclient.TestServiceStubs;
import io.temporal.serviceclient.TestServiceStubsOptions;
import java.time.Duration;

/** The clock of the in-memory server. */
public final class DevClock {
    private DevClock() {}

    /** Skips time: timers that end meanwhile fire. */
    public static void skip(String address, Duration time) {
        TestServiceStubs server = TestServiceStubs.newServiceStubs(
                TestServiceStubsOptions.newBuilder().setTarget(address).validateAndBuildWithDefaults());
        try {
            server.blockingStub()
                    .unlockTimeSkippingWithSleep(SleepRequest.newBuilder()
                            .setDuration(
                                    com.google.protobuf.Duration.newBuilder().setSeconds(time.toSeconds()))
                            .build());
        } finally {
            server.shutdownNow();
        }
    }
}
