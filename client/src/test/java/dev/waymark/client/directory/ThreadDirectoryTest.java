package dev.waymark.client.directory;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import com.google.protobuf.Timestamp;
import dev.waymark.client.list.PendingPageRequest;
import dev.waymark.client.list.ThreadPageRequest;
import dev.waymark.connect.Connection;
import dev.waymark.contract.WireNames;
import dev.waymark.history.HistoryReader;
import io.grpc.ManagedChannel;
import io.grpc.Server;
import io.grpc.Status;
import io.grpc.inprocess.InProcessChannelBuilder;
import io.grpc.inprocess.InProcessServerBuilder;
import io.grpc.stub.StreamObserver;
import io.temporal.api.common.v1.WorkflowExecution;
import io.temporal.api.common.v1.WorkflowType;
import io.temporal.api.enums.v1.WorkflowExecutionStatus;
import io.temporal.api.workflow.v1.WorkflowExecutionInfo;
import io.temporal.api.workflowservice.v1.GetSystemInfoRequest;
import io.temporal.api.workflowservice.v1.GetSystemInfoResponse;
import io.temporal.api.workflowservice.v1.ListClosedWorkflowExecutionsRequest;
import io.temporal.api.workflowservice.v1.ListClosedWorkflowExecutionsResponse;
import io.temporal.api.workflowservice.v1.ListOpenWorkflowExecutionsRequest;
import io.temporal.api.workflowservice.v1.ListOpenWorkflowExecutionsResponse;
import io.temporal.api.workflowservice.v1.ListWorkflowExecutionsRequest;
import io.temporal.api.workflowservice.v1.ListWorkflowExecutionsResponse;
import io.temporal.api.workflowservice.v1.WorkflowServiceGrpc;
import io.temporal.serviceclient.WorkflowServiceStubs;
import io.temporal.serviceclient.WorkflowServiceStubsOptions;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(180)
class ThreadDirectoryTest {
    private static final int THREADS = 2_500;
    private static final int LARGEST_PAGE = 1_000;

    /** A server with these threads, newest first. It refuses to list more than 1,000 at once. */
    private static final class ListingServer extends WorkflowServiceGrpc.WorkflowServiceImplBase {
        private String version = "1.30.0";

        @Override
        public void getSystemInfo(GetSystemInfoRequest request, StreamObserver<GetSystemInfoResponse> caller) {
            answer(
                    caller,
                    GetSystemInfoResponse.newBuilder().setServerVersion(version).build());
        }

        @Override
        public void listWorkflowExecutions(
                ListWorkflowExecutionsRequest request, StreamObserver<ListWorkflowExecutionsResponse> caller) {
            if (request.getPageSize() < 1 || request.getPageSize() > LARGEST_PAGE) {
                caller.onError(Status.INVALID_ARGUMENT
                        .withDescription("PageSize is larger than allowed 1000.")
                        .asRuntimeException());
                return;
            }
            String token = request.getNextPageToken().toStringUtf8();
            int begin = token.isEmpty() ? 0 : Integer.parseInt(token);
            int end = Math.min(THREADS, begin + request.getPageSize());
            answer(
                    caller,
                    ListWorkflowExecutionsResponse.newBuilder()
                            .addAllExecutions(infos(begin, end))
                            .setNextPageToken(ByteString.copyFromUtf8(end == THREADS ? "" : String.valueOf(end)))
                            .build());
        }

        @Override
        public void listOpenWorkflowExecutions(
                ListOpenWorkflowExecutionsRequest request, StreamObserver<ListOpenWorkflowExecutionsResponse> caller) {
            answer(
                    caller,
                    ListOpenWorkflowExecutionsResponse.newBuilder()
                            .addAllExecutions(infos(0, THREADS))
                            .build());
        }

        @Override
        public void listClosedWorkflowExecutions(
                ListClosedWorkflowExecutionsRequest request,
                StreamObserver<ListClosedWorkflowExecutionsResponse> caller) {
            answer(caller, ListClosedWorkflowExecutionsResponse.getDefaultInstance());
        }

        private static List<WorkflowExecutionInfo> infos(int begin, int end) {
            return IntStream.range(begin, end)
                    .mapToObj(i -> WorkflowExecutionInfo.newBuilder()
                            .setExecution(WorkflowExecution.newBuilder()
                                    .setWorkflowId("t" + i)
                                    .setRunId("r" + i))
                            .setType(WorkflowType.newBuilder().setName(WireNames.WORKFLOW_TYPE))
                            .setStartTime(Timestamp.newBuilder().setSeconds(THREADS - i))
                            .setStatus(WorkflowExecutionStatus.WORKFLOW_EXECUTION_STATUS_RUNNING)
                            .build())
                    .toList();
        }

        private static <T> void answer(StreamObserver<T> caller, T response) {
            caller.onNext(response);
            caller.onCompleted();
        }
    }

    private final ListingServer service = new ListingServer();
    private Server server;
    private ManagedChannel channel;
    private WorkflowServiceStubs stubs;

    @BeforeEach
    void start() throws IOException {
        String name = InProcessServerBuilder.generateName();
        server =
                InProcessServerBuilder.forName(name).addService(service).build().start();
        channel = InProcessChannelBuilder.forName(name).build();
        stubs = WorkflowServiceStubs.newServiceStubs(
                WorkflowServiceStubsOptions.newBuilder().setChannel(channel).build());
    }

    @AfterEach
    void stop() {
        stubs.shutdownNow();
        channel.shutdownNow();
        server.shutdownNow();
    }

    private ThreadDirectory directory() throws Exception {
        Connection connection = Connection.over(stubs, "default", Map.of());
        return new ThreadDirectory(connection, new HistoryReader(connection.client()));
    }

    private static ThreadPageRequest atMost(int limit) {
        return ThreadPageRequest.first(limit);
    }

    private static List<String> names(int begin, int end) {
        return IntStream.range(begin, end).mapToObj(i -> "t" + i).toList();
    }

    @Test
    void page_limitAboveTheServersLargestPage_hasThatManyThreads() throws Exception {
        ThreadDirectory.Page page = directory().page(atMost(1_700), 1_700, Optional.empty());
        assertThat(page.threads()).extracting(ThreadDirectory.Listed::thread).isEqualTo(names(0, 1_700));

        ThreadDirectory.Page rest = directory().page(atMost(Integer.MAX_VALUE), Integer.MAX_VALUE, page.next());
        assertThat(rest.threads()).extracting(ThreadDirectory.Listed::thread).isEqualTo(names(1_700, THREADS));
        assertThat(rest.next()).isEmpty();
    }

    @Test
    void pageOfWaiting_limitAboveTheServersLargestPage_hasThatManyThreads() throws Exception {
        ThreadDirectory.Page page = directory().pageOfWaiting(PendingPageRequest.first(1_700), Optional.empty());

        assertThat(page.threads()).extracting(ThreadDirectory.Listed::thread).isEqualTo(names(0, 1_700));
        assertThat(page.next()).isPresent();
    }

    @Test
    void pageOfTheInMemoryServer_afterAnotherWithAnyLimit_hasTheRest() throws Exception {
        service.version = "";
        ThreadDirectory.Page page = directory().page(atMost(10), 10, Optional.empty());

        ThreadDirectory.Page rest = directory().page(atMost(Integer.MAX_VALUE), Integer.MAX_VALUE, page.next());

        assertThat(rest.threads()).extracting(ThreadDirectory.Listed::thread).isEqualTo(names(10, THREADS));
        assertThat(rest.next()).isEmpty();
    }
}
