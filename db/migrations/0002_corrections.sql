CREATE TABLE `corrections` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`run` text NOT NULL,
	`figure` text NOT NULL,
	`text` text NOT NULL,
	`at` text NOT NULL
);
--> statement-breakpoint
CREATE INDEX `corrections_run` ON `corrections` (`run`);