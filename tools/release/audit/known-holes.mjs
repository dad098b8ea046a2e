/**
 * A hole in a package that we use, which is accepted until a date.
 * @typedef {object} Exception
 * @property {string} advisory address or id of the advisory, such as `GHSA-…`
 * @property {string} until the last day, `2027-01-31`
 * @property {string} reason
 */

/** @typedef {{ name: string, title: string, url: string, severity: string }} Advisory */

/**
 * What `npm audit --json` prints, as far as it is read; without vulnerabilities it could not ask.
 * @typedef {{ vulnerabilities?: Record<string, { via: (string | Advisory)[] }> }} AuditReport
 */

const serious = ['moderate', 'high', 'critical'];

/**
 * The holes that are to be mended now, a line for each. Exceptions that are over, or excuse nothing, are named too.
 * @param {AuditReport} report
 * @param {readonly Exception[]} exceptions
 * @param {string} today
 * @returns {string[]}
 */
export function openHoles(report, exceptions, today) {
  /** @type {Map<string, Advisory>} */
  const advisories = new Map();
  for (const { via } of Object.values(report.vulnerabilities ?? {})) {
    for (const advisory of via) if (typeof advisory !== 'string') advisories.set(advisory.url, advisory);
  }
  const exceptionOf = (/** @type {Advisory} */ { url }) =>
    exceptions.find(({ advisory }) => url.endsWith(advisory));
  const open = [...advisories.values()]
    .filter(({ severity }) => serious.includes(severity))
    .filter((advisory) => (exceptionOf(advisory)?.until ?? '') < today)
    .map(({ name, title, url, severity }) => `${name}: ${title} (${severity}, ${url})`);
  const unused = exceptions
    .filter((exception) => ![...advisories.values()].some((advisory) => exceptionOf(advisory) === exception))
    .map(({ advisory }) => `${advisory}: the exception excuses nothing any more; remove it`);
  return [...open, ...unused];
}
