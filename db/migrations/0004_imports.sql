CREATE TABLE `imports` (
	`run` text PRIMARY KEY NOT NULL,
	`kind` text NOT NULL,
	`sha256` text NOT NULL,
	`at` text NOT NULL,
	`submitted_at` text NOT NULL,
	`view` text NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `imports_sha256` ON `imports` (`sha256`);--> statement-breakpoint
CREATE INDEX `imports_submitted` ON `imports` (`submitted_at`);