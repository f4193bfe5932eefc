package dev.waymark.server.http;

import java.util.Optional;
import java.util.function.Consumer;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.server.Request;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Lets an {@link HttpService} answer requests, one for each connection. */
final class ServiceExchange implements Consumer<Transfer> {
    private static final Logger LOG = LoggerFactory.getLogger(ServiceExchange.class);

    private final HttpService service;

    ServiceExchange(HttpService service) {
        this.service = service;
    }

    @Override
    public void accept(Transfer transfer) {
        transfer.response().getHeaders().put(HttpHeader.CONNECTION, "close");
        HttpService.Received head = received(transfer.request(), new byte[0]);
        Optional<HttpReply> refusal = malformed(transfer.request().getHeaders()).or(() -> service.refusal(head));
        if (refusal.isPresent()) {
            transfer.refuse(refusal.get());
            return;
        }
        transfer.receive(service.maxBodyBytes(head)).whenComplete((body, failure) -> {
            if (failure == null) {
                transfer.sendLarge(answer(received(transfer.request(), body)));
            } else {
                transfer.refuse(HttpProblem.ofBody(failure).reply());
            }
        });
    }

    private static HttpService.Received received(Request request, byte[] body) {
        return new HttpService.Received(
                request.getMethod(), request.getHttpURI().getPath(), request.getHeaders()::getValuesList, body);
    }

    private static Optional<HttpReply> malformed(HttpFields headers) {
        if (headers.getValuesList(HttpHeader.AUTHORIZATION).size() > 1) {
            return Optional.of(HttpReply.text(400, "more than one Authorization"));
        }
        return headers.contains(HttpHeader.TRANSFER_ENCODING)
                ? Optional.of(HttpReply.text(411, "a Content-Length is required"))
                : Optional.empty();
    }

    private HttpReply answer(HttpService.Received request) {
        try {
            return service.answer(request);
        } catch (RuntimeException e) {
            LOG.error("A request for {} failed", request.path(), e);
            return HttpReply.text(500, "internal error; see the server's log");
        }
    }
}
