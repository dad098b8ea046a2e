import type { Scope } from './scope';
import type { Statement } from './syntax';
import type { Value } from './values';

/** One template while it is evaluated: its blocks, its layout, and what it exports to templates that import it. */
export interface Frame {
  name: string | undefined;
  top: Scope;
  blocks: Map<string, { body: Statement[]; frame: Frame }[]>;
  /** With a layout, only what stands in blocks is written. */
  isMuted: boolean;
  layout: string | undefined;
  exports: Map<string, Value>;
}
