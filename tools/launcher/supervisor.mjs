import { spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync, renameSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { writeJson } from './json-file.mjs';
import { endProcess, identify } from './process-identity.mjs';
import { probe } from './probes.mjs';
import { LauncherError, lastLines } from './run.mjs';

/**
 * @typedef {object} ProcessSpec
 * @property {string} name
 * @property {'server' | 'service' | 'gateway'} kind
 * @property {string} command
 * @property {string[]} args
 * @property {import('./probes.mjs').Probe} probe
 * @property {number} port the one a person would open
 * @property {Record<string, string | undefined>} [env]
 * @property {string} [cwd]
 * @property {{ uid: number, gid: number }} [user]
 * @property {NodeJS.Signals} [stopSignal]
 * @property {number} [graceSeconds]
 */

/**
 * @typedef {object} Supervised
 * @property {ProcessSpec} spec
 * @property {number} launchedAt
 * @property {number} ends how often it ended by itself
 * @property {number} backOffMs
 * @property {string | undefined} lastEnd
 * @property {import('./process-identity.mjs').Identity | undefined} identity
 */

/** Stopped in this order; everything of one kind at the same time. */
const stopOrder = /** @type {const} */ (['gateway', 'service', 'server']);
const backOffMsMax = 5_000;
const stableAfterMs = 10_000;
/** The exit code of a service whose configuration is wrong: trying again cannot help. */
const configurationFault = 78;

/** Keeps processes running until it is stopped: one that ends is started again. */
export class Supervisor {
  /** @type {Map<string, Supervised>} */
  #processes = new Map();
  #stopping = false;

  /**
   * @param {import('./paths.mjs').Layout} layout
   * @param {{ details?: Record<string, unknown>, onEnd?: (name: string, how: string) => void }} [options]
   */
  constructor(layout, { details = {}, onEnd = () => {} } = {}) {
    this.layout = layout;
    this.details = details;
    this.onEnd = onEnd;
    this.#writeState();
  }

  get isStopping() {
    return this.#stopping;
  }

  /** Adds to what the state file says. @param {Record<string, unknown>} details */
  note(details) {
    Object.assign(this.details, details);
    this.#writeState();
  }

  /** @param {ProcessSpec} spec */
  start(spec) {
    if (this.#stopping) throw new LauncherError('stopping');
    const log = this.layout.log(spec.name);
    if (existsSync(log)) renameSync(log, log.replace(/\.log$/, '.previous.log'));
    /** @type {Supervised} */
    const supervised = {
      spec,
      launchedAt: 0,
      ends: 0,
      backOffMs: 0,
      lastEnd: undefined,
      identity: undefined,
    };
    this.#processes.set(spec.name, supervised);
    this.#launch(supervised);
  }

  /**
   * Returns when the process answers; fails when it does not in time, or cannot stay up.
   * @param {string} name
   * @param {number} timeoutSeconds
   */
  async untilReady(name, timeoutSeconds) {
    const supervised = /** @type {Supervised} */ (this.#processes.get(name));
    const deadline = Date.now() + timeoutSeconds * 1000;
    let fault;
    do {
      fault = await probe(supervised.spec.probe);
      if (fault === undefined) return;
      if (this.#stopping) throw new LauncherError('stopping');
      if (supervised.ends >= 5 || supervised.lastEnd === `exit ${configurationFault}`) {
        throw new LauncherError(`does not stay up (${supervised.lastEnd})${this.#lastLog(name)}`);
      }
      await pause(50);
    } while (Date.now() < deadline);
    throw new LauncherError(`is not ready after ${timeoutSeconds} s: ${fault}${this.#lastLog(name)}`);
  }

  /** Ends everything: doors first, the servers under the services last. */
  async stop() {
    this.#stopping = true;
    for (const kind of stopOrder) {
      const group = [...this.#processes.values()].filter(({ spec }) => spec.kind === kind);
      await Promise.all(
        group.map(async ({ spec, identity }) => {
          if (identity !== undefined) await endProcess(identity, spec.stopSignal, spec.graceSeconds);
        }),
      );
    }
  }

  /** @param {Supervised} supervised */
  #launch(supervised) {
    const { spec } = supervised;
    const log = openSync(this.layout.log(spec.name), 'a');
    const child = spawn(spec.command, spec.args, {
      cwd: spec.cwd,
      env: spec.env,
      ...spec.user,
      stdio: ['ignore', log, log],
      // Its own group: Ctrl-C at the terminal reaches the launcher only, which then stops all in order.
      detached: true,
    });
    closeSync(log);
    supervised.launchedAt = Date.now();
    supervised.identity = child.pid === undefined ? undefined : identify(child.pid);
    let ended = false;
    const onEnd = (/** @type {string} */ how) => {
      if (!ended) this.#onEnd(supervised, how, child.pid);
      ended = true;
    };
    child.on('error', (error) => onEnd(error.message));
    child.on('exit', (code, signal) => onEnd(signal ?? `exit ${code}`));
    this.#writeState();
  }

  /** @param {Supervised} supervised @param {string} how @param {number | undefined} pid */
  #onEnd(supervised, how, pid) {
    if (this.#stopping) return;
    endGroup(pid);
    const wasStable = Date.now() - supervised.launchedAt > stableAfterMs;
    supervised.backOffMs = wasStable ? 0 : Math.min(Math.max(supervised.backOffMs * 2, 100), backOffMsMax);
    supervised.ends += 1;
    supervised.lastEnd = how;
    supervised.identity = undefined;
    this.#writeState();
    this.onEnd(supervised.spec.name, how);
    setTimeout(() => {
      if (!this.#stopping) this.#launch(supervised);
    }, supervised.backOffMs);
  }

  #writeState() {
    const processes = [...this.#processes.values()].map(({ spec, identity, launchedAt, ends }) => ({
      name: spec.name,
      kind: spec.kind,
      ...identity,
      port: spec.port,
      probe: spec.probe,
      stopSignal: spec.stopSignal,
      launchedAt,
      ends,
    }));
    writeJson(this.layout.state, { launcher: identify(process.pid), ...this.details, processes });
  }

  /** @param {string} name */
  #lastLog(name) {
    const file = this.layout.log(name);
    const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
    return text.trim() === '' ? '; it logged nothing' : `; its last lines (${file}):\n${lastLines(text, 12)}`;
  }
}

/** Takes what a dead process left behind in its group. @param {number | undefined} pid */
function endGroup(pid) {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // Nothing was left.
  }
}
