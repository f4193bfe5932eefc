package org.springframework.samples.petclinic.owner;

import dev.waymark.tool.ToolMethod;
import dev.waymark.tool.VerifyResult;
import dev.waymark.worker.Agent;
import jakarta.persistence.EntityManager;
import jakarta.persistence.LockModeType;
import java.time.Duration;
import java.time.LocalDate;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.domain.Pageable;
import org.springframework.stereotype.Component;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/** The tools of the clinic's agent. */
@Component
public class VisitTools {
    private static final Logger LOG = LoggerFactory.getLogger(VisitTools.class);

    private final OwnerRepository owners;
    private final EntityManager entities;
    private final String pause;

    /**
     * @param pause {@code before} or {@code after}: on which side of the commit a booking pauses, so that a test can
     *     kill the clinic there; empty for no pause
     */
    VisitTools(OwnerRepository owners, EntityManager entities, @Value("${clinic.pause:}") String pause) {
        this.owners = owners;
        this.entities = entities;
        this.pause = pause;
    }

    public record Client(String lastName) {}

    public record Patient(int owner, int pet, String name, String kind) {}

    public record NewVisit(int owner, int pet, String date, String reason) {}

    @ToolMethod(description = "The pets of the owners with a last name", safeToRetry = true)
    @Transactional(readOnly = true)
    public List<Patient> pets(Client client) {
        return owners.findByLastNameStartingWith(client.lastName(), Pageable.ofSize(20)).stream()
                .flatMap(owner -> owner.getPets().stream()
                        .map(pet -> new Patient(
                                owner.getId(), pet.getId(), pet.getName(), pet.getType().getName())))
                .toList();
    }

    /**
     * Books a visit once, however often this runs: each booking locks its owner, and first looks for the same visit.
     */
    @ToolMethod(
            description = "Books a visit for a pet; the date is written YYYY-MM-DD",
            verify = "isBooked",
            honoursKey = true)
    @Transactional
    public String bookVisit(NewVisit booked) {
        Owner owner = entities.find(Owner.class, booked.owner(), LockModeType.PESSIMISTIC_WRITE);
        if (has(owner, booked)) {
            return "booked for " + booked.date();
        }
        Visit visit = new Visit();
        visit.setDate(LocalDate.parse(booked.date()));
        visit.setDescription(booked.reason());
        owner.addVisit(booked.pet(), visit);
        owners.saveAndFlush(owner);
        standStill("before");
        TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
            @Override
            public void afterCommit() {
                standStill("after");
            }
        });
        return "booked for " + booked.date();
    }

    /** Called if the clinic was killed in the middle of a booking. */
    @Transactional(readOnly = true)
    public VerifyResult isBooked(NewVisit booked) {
        return has(owners.findById(booked.owner()).orElseThrow(), booked)
                ? VerifyResult.landed("booked for " + booked.date())
                : VerifyResult.notLanded();
    }

    private static boolean has(Owner owner, NewVisit booked) {
        return owner.getPet(booked.pet()).getVisits().stream()
                .anyMatch(visit -> visit.getDate().equals(LocalDate.parse(booked.date()))
                        && visit.getDescription().equals(booked.reason()));
    }

    private void standStill(String place) {
        if (!place.equals(pause)) {
            return;
        }
        LOG.info("Standing still {} the commit.", place);
        try {
            Thread.sleep(Duration.ofMinutes(10).toMillis());
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @Configuration
    static class Agents {
        @Bean
        Agent receptionist(VisitTools tools) {
            return Agent.named("receptionist")
                    .model("anthropic:claude-haiku-4-5")
                    .instructions("You book visits at a veterinary clinic. Look up the pet first.")
                    .tools(tools)
                    .build();
        }
    }
}
