package dev.waymark.e2e.examples;

import dev.waymark.e2e.product.TableContext;
import io.nexusrpc.OperationException;
import io.nexusrpc.handler.OperationContext;
import io.temporal.common.interceptors.NexusOperationInboundCallsInterceptor;
import io.temporal.common.interceptors.NexusOperationInboundCallsInterceptorBase;
import io.temporal.common.interceptors.WorkerInterceptorBase;
import io.temporal.common.interceptors.WorkflowInboundCallsInterceptor;
import io.temporal.common.interceptors.WorkflowInboundCallsInterceptorBase;
import io.temporal.common.interceptors.WorkflowOutboundCallsInterceptor;
import io.temporal.common.interceptors.WorkflowOutboundCallsInterceptorBase;

/** Passes a propagated context through Nexus operations, for workers on both sides. */
public final class TableHeader extends WorkerInterceptorBase {
    private static final String HEADER = "table";

    @Override
    public WorkflowInboundCallsInterceptor interceptWorkflow(WorkflowInboundCallsInterceptor next) {
        return new WorkflowInboundCallsInterceptorBase(next) {
            @Override
            public void init(WorkflowOutboundCallsInterceptor outbound) {
                super.init(new WorkflowOutboundCallsInterceptorBase(outbound) {
                    @Override
                    public <R> ExecuteNexusOperationOutput<R> executeNexusOperation(
                            ExecuteNexusOperationInput<R> input) {
                        input.getHeaders().put(HEADER, TableContext.VALUE.get());
                        return super.executeNexusOperation(input);
                    }
                });
            }
        };
    }

    @Override
    public NexusOperationInboundCallsInterceptor interceptNexusOperation(
            OperationContext operation, NexusOperationInboundCallsInterceptor next) {
        return new NexusOperationInboundCallsInterceptorBase(next) {
            @Override
            public StartOperationOutput startOperation(StartOperationInput input) throws OperationException {
                TableContext.VALUE.set(input.getOperationContext().getHeaders().get(HEADER));
                try {
                    return super.startOperation(input);
                } finally {
                    TableContext.VALUE.remove();
                }
            }
        };
    }
}
