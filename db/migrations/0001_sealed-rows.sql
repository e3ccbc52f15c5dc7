-- Rows that seal a run, and rows that were measured, never change.
CREATE TRIGGER runs_sealed_update BEFORE UPDATE ON runs BEGIN SELECT RAISE(ABORT, 'a sealed run never changes'); END;
--> statement-breakpoint
CREATE TRIGGER runs_sealed_delete BEFORE DELETE ON runs BEGIN SELECT RAISE(ABORT, 'a sealed run is never deleted'); END;
--> statement-breakpoint
CREATE TRIGGER arms_sealed_update BEFORE UPDATE ON arms BEGIN SELECT RAISE(ABORT, 'the arms of a sealed run never change'); END;
--> statement-breakpoint
CREATE TRIGGER arms_sealed_delete BEFORE DELETE ON arms BEGIN SELECT RAISE(ABORT, 'the arms of a sealed run never change'); END;
--> statement-breakpoint
CREATE TRIGGER planned_legs_sealed_update BEFORE UPDATE ON planned_legs BEGIN SELECT RAISE(ABORT, 'the sealed order of legs never changes'); END;
--> statement-breakpoint
CREATE TRIGGER planned_legs_sealed_delete BEFORE DELETE ON planned_legs BEGIN SELECT RAISE(ABORT, 'the sealed order of legs never changes'); END;
--> statement-breakpoint
CREATE TRIGGER leg_results_sealed_update BEFORE UPDATE ON leg_results BEGIN SELECT RAISE(ABORT, 'a measured leg never changes'); END;
--> statement-breakpoint
CREATE TRIGGER leg_results_sealed_delete BEFORE DELETE ON leg_results BEGIN SELECT RAISE(ABORT, 'a measured leg never changes'); END;
--> statement-breakpoint
CREATE TRIGGER events_sealed_update BEFORE UPDATE ON events BEGIN SELECT RAISE(ABORT, 'events are append-only'); END;
--> statement-breakpoint
CREATE TRIGGER events_sealed_delete BEFORE DELETE ON events BEGIN SELECT RAISE(ABORT, 'events are append-only'); END;
--> statement-breakpoint
CREATE TRIGGER verdicts_sealed_update BEFORE UPDATE ON verdicts BEGIN SELECT RAISE(ABORT, 'a verdict never changes'); END;
--> statement-breakpoint
CREATE TRIGGER verdicts_sealed_delete BEFORE DELETE ON verdicts BEGIN SELECT RAISE(ABORT, 'a verdict never changes'); END;
--> statement-breakpoint
CREATE TRIGGER jobs_accepted_once BEFORE UPDATE OF accepted_attempt ON jobs WHEN OLD.accepted_attempt IS NOT NULL AND NEW.accepted_attempt IS NOT OLD.accepted_attempt BEGIN SELECT RAISE(ABORT, 'a job accepts one attempt'); END;
