import { readdirSync, readFileSync } from 'node:fs';

interface RunningProcess {
  id: number;
  command: string;
}

/** The processes that a process started, and those that they started, from /proc. */
export function descendantsOf(processId: number | undefined): RunningProcess[] {
  if (processId === undefined) return [];
  const children = new Map<number, RunningProcess[]>();
  for (const name of readdirSync('/proc').filter((one) => /^\d+$/.test(one))) {
    const found = readProcess(Number(name));
    if (found) children.set(found.parent, [...(children.get(found.parent) ?? []), found]);
  }
  const below = (id: number): RunningProcess[] =>
    (children.get(id) ?? []).flatMap((child) => [child, ...below(child.id)]);
  return below(processId);
}

/** Undefined for a process that ended meanwhile. */
function readProcess(id: number): (RunningProcess & { parent: number }) | undefined {
  try {
    const stat = readFileSync(`/proc/${id}/stat`, 'utf8');
    // The name before it is in parentheses, and may have blanks and parentheses itself.
    const [, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const command = readFileSync(`/proc/${id}/cmdline`, 'utf8').replaceAll('\0', ' ');
    return { id, parent: Number(parent), command };
  } catch {
    return undefined;
  }
}
