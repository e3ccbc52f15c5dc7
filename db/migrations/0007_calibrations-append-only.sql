-- A calibration is what an A/A run measured: sealed into runs after it, so it never changes. A newer one follows it.
CREATE TRIGGER calibrations_sealed_update BEFORE UPDATE ON calibrations BEGIN SELECT RAISE(ABORT, 'calibrations are append-only'); END;
--> statement-breakpoint
CREATE TRIGGER calibrations_sealed_delete BEFORE DELETE ON calibrations BEGIN SELECT RAISE(ABORT, 'calibrations are append-only'); END;
