/**
 * The three ways an engine process ends other than by finishing. `main.ts` turns each into one line on stderr, one record
 * and one exit status; nothing else in the engine calls `process.exit`.
 */

/** The engine declines to run (exit 1): no adapter, software without leave, a broken checkpoint. Nothing was lost. */
export class EngineRefused extends Error {
  override readonly name = 'EngineRefused';
  /** The command or change that helps. */
  readonly next: string;
  constructor(reason: string, next: string, options?: ErrorOptions) {
    super(reason, options);
    this.next = next;
  }
}

/** A fence, a map or a compilation did not come back in time (exit 124). The device is in an unknown state: stop. */
export class EngineTimeout extends Error {
  override readonly name = 'EngineTimeout';
}

/** The device or the engine broke (exit 70): a validation error, a lost device, an invariant that did not hold. */
export class EngineBroken extends Error {
  override readonly name = 'EngineBroken';
}

/** A shader that the device refuses to compile: its kernel's fault, and no other's. The device works on. */
export class ShaderInvalid extends EngineBroken {}

/** Wrong command line (exit 2). */
export class EngineUsage extends Error {
  override readonly name = 'EngineUsage';
}

/**
 * Waits for `work`, at most `ms` milliseconds.
 * @throws EngineTimeout naming `what` when the time is up.
 */
export async function withTimeout<T>(work: Promise<T>, ms: number, what: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new EngineTimeout(`${what} did not finish within ${ms} ms`)), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
