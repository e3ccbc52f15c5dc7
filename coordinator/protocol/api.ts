/** Where a coordinator listens, on 127.0.0.1, unless it is told otherwise. */
export const DEFAULT_PORT = 7420;

/** Every route of the coordinator, once. http/ has one file a resource; a test holds this table against the running app. */
export const API_ROUTES = [
  ['GET', '/livez', 'the process answers'],
  ['GET', '/readyz', 'SQLite writes and Redis answers'],
  ['POST', '/api/heads/have', 'which of these commits the coordinator has'],
  ['POST', '/api/heads/bundle', 'add a git bundle (streamed body); ?head=SHA for every head it must hold'],
  ['GET', '/api/heads/:sha/bundle', 'a bundle of one head; ?have=SHA for commits the caller already has'],
  ['POST', '/api/runs', 'submit a run'],
  ['POST', '/api/runs/measured', 'what was measured before of a submission; nothing is stored'],
  ['POST', '/api/runs/:run/pairs', 'more pairs of a judged run, under its rule'],
  ['GET', '/api/runs', 'newest runs, one summary each'],
  ['GET', '/api/runs/:run', 'the whole run'],
  ['GET', '/api/runs/:run/report', 'the run as ?format=markdown or json'],
  ['GET', '/api/runs/:run/receipt', 'the raw files of a finished run and the SHA-256 of each, as a tar'],
  ['POST', '/api/runs/:run/corrections', 'append a correction to a figure'],
  ['POST', '/api/imports/receipts', 'import a receipt (streamed body), read-only'],
  ['POST', '/api/imports/records', 'import bare engine records, read-only'],
  ['GET', '/api/forecasts', 'how forecasts came out, over all runs'],
  ['GET', '/api/devices', 'devices and what they are doing'],
  ['POST', '/api/devices/:device/register', 'an agent serves this device'],
  ['POST', '/api/devices/:device/heartbeat', 'what the agent is doing; cancels come back'],
  ['POST', '/api/jobs/:job/claim', 'open an attempt; returns spec and token'],
  ['POST', '/api/jobs/:job/attempts/:attempt/state', 'progress of an attempt (token)'],
  ['POST', '/api/jobs/:job/attempts/:attempt/failed', 'an attempt ends without results (token)'],
  ['PUT', '/api/jobs/:job/attempts/:attempt/legs/:index', 'results of one leg, idempotent (token)'],
  ['GET', '/api/blobs/:sha256', 'a stored log or records file, text/plain'],
  ['GET', '/', 'runs and devices'],
  ['GET', '/runs/:run', 'the run page'],
  ['GET', '/forecasts', 'the same, as a page'],
  ['GET', '/static/:file', 'style sheet and module'],
] as const;
