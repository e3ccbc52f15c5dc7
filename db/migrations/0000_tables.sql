CREATE TABLE `arms` (
	`run` text NOT NULL,
	`position` integer NOT NULL,
	`label` text NOT NULL,
	`head` text NOT NULL,
	`settings` text NOT NULL,
	PRIMARY KEY(`run`, `position`),
	FOREIGN KEY (`run`) REFERENCES `runs`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`head`) REFERENCES `heads`(`sha`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE TABLE `attempts` (
	`job` text NOT NULL,
	`number` integer NOT NULL,
	`state` text NOT NULL,
	`agent` text NOT NULL,
	`token_sha256` text NOT NULL,
	`opened_at` text NOT NULL,
	`note` text NOT NULL,
	PRIMARY KEY(`job`, `number`),
	FOREIGN KEY (`job`) REFERENCES `jobs`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE TABLE `blobs` (
	`sha256` text PRIMARY KEY NOT NULL,
	`byte_length` integer NOT NULL,
	`added_at` text NOT NULL
);
--> statement-breakpoint
CREATE TABLE `devices` (
	`name` text PRIMARY KEY NOT NULL,
	`agent` text NOT NULL,
	`adapter` text NOT NULL,
	`driver` text NOT NULL,
	`evidence` text NOT NULL,
	`lock_path` text NOT NULL,
	`host` text NOT NULL,
	`pid` integer NOT NULL,
	`registered_at` text NOT NULL,
	`last_seen_at` text NOT NULL,
	`activity` text NOT NULL,
	`job` text,
	`leg` integer,
	`lock_holder` text
);
--> statement-breakpoint
CREATE TABLE `events` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`at` text NOT NULL,
	`name` text NOT NULL,
	`run` text,
	`job` text,
	`fields` text NOT NULL
);
--> statement-breakpoint
CREATE INDEX `events_job` ON `events` (`job`);--> statement-breakpoint
CREATE TABLE `heads` (
	`sha` text PRIMARY KEY NOT NULL,
	`tree` text NOT NULL,
	`subject` text NOT NULL,
	`manifest` text NOT NULL,
	`added_at` text NOT NULL
);
--> statement-breakpoint
CREATE TABLE `jobs` (
	`id` text PRIMARY KEY NOT NULL,
	`run` text NOT NULL,
	`device` text NOT NULL,
	`suite` text NOT NULL,
	`spec` text NOT NULL,
	`arms` text NOT NULL,
	`not_comparable` text NOT NULL,
	`state` text NOT NULL,
	`note` text NOT NULL,
	`evidence` text NOT NULL,
	`adapter` text NOT NULL,
	`accepted_attempt` integer,
	`enqueued` integer DEFAULT 0 NOT NULL,
	`updated_at` text NOT NULL,
	FOREIGN KEY (`run`) REFERENCES `runs`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`device`) REFERENCES `devices`(`name`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `jobs_run` ON `jobs` (`run`);--> statement-breakpoint
CREATE INDEX `jobs_state` ON `jobs` (`state`);--> statement-breakpoint
CREATE INDEX `jobs_device` ON `jobs` (`device`);--> statement-breakpoint
CREATE TABLE `leg_results` (
	`job` text NOT NULL,
	`attempt` integer NOT NULL,
	`position` integer NOT NULL,
	`measure` text NOT NULL,
	`records` text,
	`log` text NOT NULL,
	`body_sha256` text NOT NULL,
	`received_at` text NOT NULL,
	PRIMARY KEY(`job`, `attempt`, `position`),
	FOREIGN KEY (`records`) REFERENCES `blobs`(`sha256`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`log`) REFERENCES `blobs`(`sha256`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`job`,`attempt`) REFERENCES `attempts`(`job`,`number`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`job`,`position`) REFERENCES `planned_legs`(`job`,`position`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE TABLE `planned_legs` (
	`job` text NOT NULL,
	`position` integer NOT NULL,
	`arm` integer NOT NULL,
	`case_name` text NOT NULL,
	`pair` integer,
	`args` text NOT NULL,
	`pinned_ids` text,
	PRIMARY KEY(`job`, `position`),
	FOREIGN KEY (`job`) REFERENCES `jobs`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE TABLE `runs` (
	`id` text PRIMARY KEY NOT NULL,
	`key` text NOT NULL,
	`request_sha256` text NOT NULL,
	`submitted_at` text NOT NULL,
	`pairs` integer NOT NULL,
	`allow_software` integer NOT NULL,
	`rule` text NOT NULL,
	`seal_text` text NOT NULL,
	`seal_sha256` text NOT NULL,
	`seal_at` text NOT NULL,
	`coverage_not_run` text NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `runs_key` ON `runs` (`key`);--> statement-breakpoint
CREATE INDEX `runs_submitted` ON `runs` (`submitted_at`);--> statement-breakpoint
CREATE TABLE `verdicts` (
	`job` text NOT NULL,
	`arm` integer NOT NULL,
	`verdict` text NOT NULL,
	`computed_at` text NOT NULL,
	PRIMARY KEY(`job`, `arm`),
	FOREIGN KEY (`job`) REFERENCES `jobs`(`id`) ON UPDATE no action ON DELETE no action
);
