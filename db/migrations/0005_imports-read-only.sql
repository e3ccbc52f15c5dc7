-- What was imported is evidence of another machine: read-only.
CREATE TRIGGER imports_sealed_update BEFORE UPDATE ON imports BEGIN SELECT RAISE(ABORT, 'an import is read-only'); END;
--> statement-breakpoint
CREATE TRIGGER imports_sealed_delete BEFORE DELETE ON imports BEGIN SELECT RAISE(ABORT, 'an import is read-only'); END;
