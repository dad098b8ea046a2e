/** The figures of one measured job, with its reference where there is one. */
export interface BenchLine {
  job: string;
  measured: string;
  reference?: string;
  ratio?: number;
  /** The ratio to reach: a number is the largest allowed one. */
  goal?: number | string;
  /** Lines about where the time was spent. */
  details?: readonly string[];
}
