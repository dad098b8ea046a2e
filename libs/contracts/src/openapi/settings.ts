import type { ProblemKind, ProblemType } from '@plinth/kernel/problem';
import type { Endpoints } from '../endpoint';

/** What an OpenAPI document is made from. */
export interface OpenApiSettings {
  endpoints: Readonly<Record<string, Endpoints>>;
  problems: Readonly<Record<string, ProblemType>>;
  statusByKind: Readonly<Record<ProblemKind, number>>;
  prefix: string;
}
