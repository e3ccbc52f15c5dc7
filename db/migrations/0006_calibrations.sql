CREATE TABLE `calibrations` (
	`run` text NOT NULL,
	`device` text NOT NULL,
	`suite` text NOT NULL,
	`case_name` text NOT NULL,
	`at` text NOT NULL,
	`head` text NOT NULL,
	`driver` text NOT NULL,
	`evidence` text NOT NULL,
	`floor_percent` real NOT NULL,
	`calibration` text NOT NULL,
	PRIMARY KEY(`run`, `device`, `suite`, `case_name`),
	FOREIGN KEY (`run`) REFERENCES `runs`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `calibrations_device` ON `calibrations` (`device`,`at`);