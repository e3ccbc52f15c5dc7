/** What pages read. The coordinator hands in an implementation; web/ knows no store. */
import type { DeviceView } from '../coordinator/protocol/agent.ts';
import type { ForecastSummary } from '../coordinator/protocol/forecasts.ts';
import type { RunSummary, RunView } from '../coordinator/protocol/run.ts';

export interface WebReader {
  /** Null: no such run. */
  run(id: string): RunView | null;
  /** Newest first. */
  runs(): readonly RunSummary[];
  devices(): readonly DeviceView[];
  forecasts(): ForecastSummary;
  /** The same text as `fleet report RUN --format markdown`. */
  renderMarkdown(view: RunView): string;
}
