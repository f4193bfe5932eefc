package dev.waymark.connect;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.Server;
import io.grpc.Status;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.StreamObserver;
import io.temporal.api.workflowservice.v1.DescribeNamespaceRequest;
import io.temporal.api.workflowservice.v1.DescribeNamespaceResponse;
import io.temporal.api.workflowservice.v1.GetSystemInfoRequest;
import io.temporal.api.workflowservice.v1.GetSystemInfoResponse;
import io.temporal.api.workflowservice.v1.WorkflowServiceGrpc;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Uses a server that always answers, and whose database may fail with a status. */
@Timeout(180)
class ServerStateTest {
    private static final Duration MOST = Duration.ofSeconds(2);

    private volatile Status database = Status.OK;

    private final class Service extends WorkflowServiceGrpc.WorkflowServiceImplBase {
        @Override
        public void getSystemInfo(GetSystemInfoRequest request, StreamObserver<GetSystemInfoResponse> answer) {
            answer.onNext(GetSystemInfoResponse.newBuilder()
                    .setServerVersion("1.29.0")
                    .build());
            answer.onCompleted();
        }

        @Override
        public void describeNamespace(
                DescribeNamespaceRequest request, StreamObserver<DescribeNamespaceResponse> answer) {
            if (database.isOk()) {
                answer.onNext(DescribeNamespaceResponse.getDefaultInstance());
                answer.onCompleted();
            } else {
                answer.onError(database.asRuntimeException());
            }
        }
    }

    @Test
    void state_distinguishesALostServerFromALostDatabase() throws Exception {
        Server server =
                NettyServerBuilder.forPort(0).addService(new Service()).build().start();
        try (Connection connection = Connection.to("127.0.0.1:" + server.getPort())) {
            assertThat(connection.state(MOST)).isEqualTo(ServerState.WORKING);
            database = Status.UNAVAILABLE.withDescription("database is locked");
            assertThat(connection.state(MOST)).isEqualTo(ServerState.WITHOUT_DATABASE);
            database = Status.PERMISSION_DENIED;
            assertThat(connection.state(MOST)).isEqualTo(ServerState.WORKING);
            database = Status.RESOURCE_EXHAUSTED;
            assertThat(connection.state(MOST)).isEqualTo(ServerState.WORKING);
            server.shutdownNow().awaitTermination();
            assertThat(connection.state(MOST)).isEqualTo(ServerState.UNREACHABLE);
        } finally {
            server.shutdownNow();
        }
    }
}
