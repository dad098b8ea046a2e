/** @param {string} output what `--version` printed @param {string} versionMin */
export function isAtLeast(output, versionMin) {
  const found = /(\d+)\.(\d+)/.exec(output);
  const [major = 0, minor = 0] = (found ?? []).slice(1).map(Number);
  const [majorMin = 0, minorMin = 0] = versionMin.split('.').map(Number);
  return major > majorMin || (major === majorMin && minor >= minorMin);
}
