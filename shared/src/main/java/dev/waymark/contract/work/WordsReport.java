package dev.waymark.contract.work;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.google.protobuf.InvalidProtocolBufferException;
import io.temporal.api.common.v1.Payloads;
import io.temporal.common.converter.DataConverter;
import io.temporal.common.converter.DataConverterException;
import java.util.Base64;
import java.util.List;
import java.util.Optional;

/**
 * A worker's answer to a {@link WordsRequest}. A call that is in neither list has nothing new, or its text did not fit
 * into this answer.
 *
 * @param absent the positions in the request of calls that this worker does not run
 */
public record WordsReport(
        List<News> news,

        @JsonInclude(JsonInclude.Include.NON_EMPTY) List<Integer> absent) {
    public WordsReport {
        news = news == null ? List.of() : List.copyOf(news);
        absent = absent == null ? List.of() : List.copyOf(absent);
    }

    /**
     * New text of a call.
     *
     * @param call the position in the request
     * @param reply a {@link PartialReply}, encoded and encrypted like the thread's heartbeats
     */
    public record News(int call, String reply) {
        public News {
            reply = reply == null ? "" : reply;
        }

        /** @param thread the converter for payloads of the thread */
        public static News of(int call, PartialReply reply, DataConverter thread) {
            byte[] encoded = thread.toPayloads(reply).orElseThrow().toByteArray();
            return new News(call, Base64.getEncoder().encodeToString(encoded));
        }

        /**
         * @param thread the converter for payloads of the thread
         * @throws DataConverterException if this client cannot read it
         */
        public PartialReply decoded(DataConverter thread) {
            try {
                Payloads payloads = Payloads.parseFrom(Base64.getDecoder().decode(reply));
                return thread.fromPayloads(0, Optional.of(payloads), PartialReply.class, PartialReply.class);
            } catch (InvalidProtocolBufferException | IllegalArgumentException e) {
                throw new DataConverterException(e);
            }
        }
    }
}
