import { defaultLimits } from '../src/render/language/meter';
import type { RenderTask } from '../src/render/sandbox/protocol';

/** A task that renders a source as a page, with no data and nothing that it could include or look up. */
export const aRenderTask = (source: string, more: Partial<RenderTask> = {}): RenderTask => ({
  kind: 'render',
  source,
  mimeType: 'text/html',
  format: 'html',
  partials: {},
  texts: {},
  settings: {},
  globals: '{}',
  data: '{}',
  culture: 'en',
  timeZone: 'UTC',
  limits: defaultLimits,
  ...more,
});
