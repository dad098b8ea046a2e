import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { root } from '../../development/launcher/paths.mjs';
import { listDeadLetters, replayDeadLetters } from './dead-letters.ts';
import { servicesWithDatabase, resolveEndpoints } from './endpoints.ts';

const USAGE = `npm run events -- dead list [service…]                    what could not be processed, and why
npm run events -- dead replay [service…] [--event <id>]   publish it again, all or one
npm run events -- chaos [events]                          check exactly-once processing with so many events (100000)`;

/** `npm run events`: lists and replays dead letters, and checks that events are processed exactly once. */
async function main([command, action, ...rest]: string[]) {
  const events = action ?? '100000';
  if (command === 'chaos' && /^[1-9]\d*$/.test(events)) return chaos(events);
  if (command !== 'dead' || !['list', 'replay'].includes(action ?? '')) {
    console.error(USAGE);
    process.exitCode = 2;
    return;
  }
  const { names, event } = readArguments(rest);
  const known = servicesWithDatabase();
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length > 0)
    throw new Error(`There is no service with a database that is called ${unknown.join(', ')}.`);
  const endpoints = resolveEndpoints(process.env);
  for (const service of names.length > 0 ? names : known) {
    const url = endpoints.databaseUrlOf(service);
    if (action === 'list') {
      for (const letter of await listDeadLetters(url)) {
        const { event_id, name, consumer, tenant_id, deliveries, died_at, error } = letter;
        const reason = error.split('\n', 1)[0];
        console.log(`${service}  ${event_id}  ${name}  for ${consumer}, tenant ${tenant_id}`);
        console.log(`  failed ${deliveries} times, last at ${died_at.toISOString()}: ${reason}`);
      }
    } else {
      const replayed = await replayDeadLetters(url, { ...endpoints, event });
      console.log(`${service}: ${replayed} replayed`);
    }
  }
}

function readArguments(rest: string[]): { names: string[]; event: string | undefined } {
  const at = rest.indexOf('--event');
  if (at < 0) return { names: rest, event: undefined };
  const event = rest[at + 1];
  if (event === undefined) throw new Error('--event needs the id of an event.');
  return { names: rest.filter((_part, index) => index !== at && index !== at + 1), event };
}

function chaos(events: string) {
  const jest = join(root, 'node_modules', 'jest', 'bin', 'jest.js');
  const { status } = spawnSync(process.execPath, [jest, 'libs/runtime/test/event-chaos.spec.ts'], {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, CHAOS_EVENTS: events },
  });
  process.exitCode = status ?? 1;
}

main(process.argv.slice(2)).catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
