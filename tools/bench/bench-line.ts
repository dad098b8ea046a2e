/** One measured job, beside its reference where there is one. */
export interface BenchLine {
  job: string;
  measured: string;
  reference?: string;
  ratio?: number;
  /** Which ratio is good enough: a number is the largest one. */
  goal?: number | string;
  /** Lines that say where the time went. */
  details?: readonly string[];
}
