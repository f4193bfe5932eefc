package dev.waymark.spring;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.http.ProblemDetail;

/** Answers failed requests of controllers with the reason and what to do. */
@AutoConfiguration
@ConditionalOnWebApplication
@ConditionalOnClass(ProblemDetail.class)
@ConditionalOnProperty(
        name = {"waymark.enabled", "waymark.problem-details"},
        matchIfMissing = true)
final class WaymarkProblemsAutoConfiguration {

    @Bean
    WaymarkProblems waymarkProblems() {
        return new WaymarkProblems();
    }
}
