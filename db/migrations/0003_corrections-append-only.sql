-- A correction is appended, and never changed or taken back: another one follows it.
CREATE TRIGGER corrections_sealed_update BEFORE UPDATE ON corrections BEGIN SELECT RAISE(ABORT, 'corrections are append-only'); END;
--> statement-breakpoint
CREATE TRIGGER corrections_sealed_delete BEFORE DELETE ON corrections BEGIN SELECT RAISE(ABORT, 'corrections are append-only'); END;
