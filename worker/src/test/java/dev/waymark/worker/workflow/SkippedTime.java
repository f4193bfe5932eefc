package dev.waymark.worker.workflow;

import io.temporal.api.testservice.v1.SleepRequest;
import io.temporal.serviceclient.TestServiceStubs;
import io.temporal.serviceclient.TestServiceStubsOptions;
import java.time.Duration;

/** Lets time pass at once on an in-memory server. */
final class SkippedTime implements AutoCloseable {
    private final TestServiceStubs service;

    private SkippedTime(TestServiceStubs service) {
        this.service = service;
    }

    static SkippedTime on(String address) {
        return new SkippedTime(TestServiceStubs.newServiceStubs(
                TestServiceStubsOptions.newBuilder().setTarget(address).validateAndBuildWithDefaults()));
    }

    void skip(Duration much) {
        service.blockingStub()
                .unlockTimeSkippingWithSleep(SleepRequest.newBuilder()
                        .setDuration(com.google.protobuf.Duration.newBuilder().setSeconds(much.toSeconds()))
                        .build());
    }

    @Override
    public void close() {
        service.shutdownNow();
    }
}
