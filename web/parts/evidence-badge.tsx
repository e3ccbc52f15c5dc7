/** @jsxRuntime automatic @jsxImportSource hono/jsx */
import type { Child } from 'hono/jsx';
import type { JobView } from '../../coordinator/protocol/run.ts';

/** `software` looks different from `gpu` in text, border and colour, wherever a device or verdict is shown. */
export function EvidenceBadge({ evidence }: { readonly evidence: JobView['evidence'] }): Child {
  return evidence === 'software' ? (
    <span class="evidence software" title="A CPU Vulkan driver: no GPU evidence">
      software
    </span>
  ) : (
    <span class="evidence gpu">gpu</span>
  );
}
