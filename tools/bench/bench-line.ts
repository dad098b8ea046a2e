/** One measured job beside its reference. */
export interface BenchLine {
  job: string;
  measured: string;
  reference: string;
  ratio?: number;
  /** The largest ratio that is good enough; for rates, the smallest. */
  goal?: number;
  /** Lines that say where the time went. */
  details?: readonly string[];
}
