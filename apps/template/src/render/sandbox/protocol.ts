import type { FrontMatter } from '../language/front-matter';
import type { Limits } from '../language/meter';
import type { Dependencies } from '../language/dependencies';
import type { Variable } from '../language/variables';

/** Templates by name; null where the tenant has none of that name. */
export type Partials = Record<string, string | null>;

/** Make a document out of a template. */
export interface RenderTask {
  kind: 'render';
  source: string;
  mimeType: string;
  format: 'html' | 'pdf' | 'excel';
  partials: Partials;
  /** By key, such as `Invoice:total`; null where there is none. */
  texts: Record<string, string | null>;
  settings: Record<string, string | null>;
  /** JSON object: `now`, `culture`, `tenant`, `user`. */
  globals: string;
  /** JSON object from the caller. */
  data: string;
  culture: string;
  timeZone: string;
  limits: Limits;
}

/** Find errors and variables of a template. */
export interface AnalyzeTask {
  kind: 'analyze';
  source: string;
  partials: Partials;
}

export interface DiffTask {
  kind: 'diff';
  from: { name: string; text: string };
  to: { name: string; text: string };
}

export type Task = RenderTask | AnalyzeTask | DiffTask;

export interface ParseError {
  message: string;
  line?: number | undefined;
  column?: number | undefined;
  snippet?: string | undefined;
}

export interface RenderResult {
  kind: 'rendered';
  /** Of the format `html`. */
  html: string;
  plainText: string;
  /** The rendered values of the leading comments. */
  front: FrontMatter;
  /** Of the format `pdf`: what is printed, in UTF-8. It waits for its turn outside of the heap, and is sent as it is. */
  page?: Uint8Array | undefined;
  /** Of the format `excel`. */
  workbook?: Uint8Array | undefined;
  missing: string[];
  /** What it was rendered with of what was loaded for it. */
  used: Dependencies;
  /** Bytes of the texts of a response as JSON, which nobody has to write to know. */
  jsonBytes: number;
}

export type TaskResult =
  | RenderResult
  /** To be run again with these. */
  | { kind: 'dependencies'; dependencies: Dependencies }
  | { kind: 'analyzed'; errors: ParseError[]; model: Variable[]; settings: string[] }
  | { kind: 'diff'; unified: string }
  | { kind: 'failed'; reason: 'parse' | 'render'; errors: ParseError[] }
  /** `byNames`: by what it was evaluated with and what it names besides, together. */
  | { kind: 'exhausted'; message: string; byNames?: boolean };

export interface Message<Content> {
  id: number;
  content: Content;
}
