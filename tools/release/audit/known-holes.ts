/** A hole in a package that we use, which is accepted until a date. */
export interface Exception {
  /** Address or id of the advisory, such as `GHSA-…`. */
  advisory: string;
  /** The last day, `2027-01-31`. */
  until: string;
  reason: string;
}

interface Advisory {
  name: string;
  title: string;
  url: string;
  severity: string;
}

/** What `npm audit --json` prints, as far as it is read; without vulnerabilities it could not ask. */
export interface AuditReport {
  vulnerabilities?: Record<string, { via: (string | Advisory)[] }>;
}

const serious = ['moderate', 'high', 'critical'];

/** The holes that are to be mended now, a line for each. Exceptions that are over, or excuse nothing, are named too. */
export function openHoles(report: AuditReport, exceptions: readonly Exception[], today: string): string[] {
  const advisories = new Map<string, Advisory>();
  for (const { via } of Object.values(report.vulnerabilities ?? {})) {
    for (const advisory of via) if (typeof advisory !== 'string') advisories.set(advisory.url, advisory);
  }
  const exceptionOf = ({ url }: Advisory) => exceptions.find(({ advisory }) => url.endsWith(advisory));
  const open = [...advisories.values()]
    .filter(({ severity }) => serious.includes(severity))
    .filter((advisory) => (exceptionOf(advisory)?.until ?? '') < today)
    .map(({ name, title, url, severity }) => `${name}: ${title} (${severity}, ${url})`);
  const unused = exceptions
    .filter((exception) => ![...advisories.values()].some((advisory) => exceptionOf(advisory) === exception))
    .map(({ advisory }) => `${advisory}: the exception excuses nothing any more; remove it`);
  return [...open, ...unused];
}
