import { spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync, renameSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { writeJson } from './json-file.mjs';
import { stopProcess, identify } from './process-identity.mjs';
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
 * @property {number} exits how often it exited by itself
 * @property {number} backOffMilliseconds
 * @property {string | undefined} lastExit
 * @property {number} launches
 * @property {NodeJS.Timeout | undefined} relaunch the launch that is due after an exit
 * @property {import('./process-identity.mjs').Identity | undefined} identity
 */

/** Stopped in this order; everything of one kind at the same time. */
const stopOrder = /** @type {const} */ (['gateway', 'service', 'server']);
const backOffMillisecondsMax = 5_000;
const stableMilliseconds = 10_000;
/** A restart is to be quick; what it cuts off is retried. */
const restartGraceSeconds = 1;
/** The exit code of a service whose configuration is wrong: trying again cannot help. */
const configurationError = 78;

/** Keeps processes running until it is stopped: one that exits is started again. */
export class Supervisor {
  /** @type {Map<string, Supervised>} */
  #processes = new Map();
  #stopping = false;

  /**
   * @param {import('./paths.mjs').Layout} layout
   * @param {{ details?: Record<string, unknown>, onExit?: (name: string, how: string, isRelaunched: boolean) => void, waitsForRestart?: boolean }} [options]
   *   `waitsForRestart`: a service that exits soon after its launch is not launched again before `restart`
   */
  constructor(layout, { details = {}, onExit = () => {}, waitsForRestart = false } = {}) {
    this.layout = layout;
    this.waitsForRestart = waitsForRestart;
    this.details = details;
    this.onExit = onExit;
    this.#writeState();
  }

  get isStopping() {
    return this.#stopping;
  }

  /** Adds to the state file. @param {Record<string, unknown>} details */
  describe(details) {
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
      exits: 0,
      backOffMilliseconds: 0,
      lastExit: undefined,
      launches: 0,
      relaunch: undefined,
      identity: undefined,
    };
    this.#processes.set(spec.name, supervised);
    this.#launch(supervised);
  }

  /**
   * Stops a process and launches it again, from the program that is there now.
   * @param {string} name
   */
  async restart(name) {
    const supervised = /** @type {Supervised} */ (this.#processes.get(name));
    const { spec, identity } = supervised;
    clearTimeout(supervised.relaunch);
    // From now on an exit of the process does not launch it again.
    supervised.launches += 1;
    if (identity !== undefined) await stopProcess(identity, spec.stopSignal, restartGraceSeconds);
    killGroup(identity?.pid);
    if (this.#stopping) return;
    Object.assign(supervised, { exits: 0, lastExit: undefined, backOffMilliseconds: 0 });
    this.#launch(supervised);
  }

  /**
   * Returns when the process is ready; fails when it does not in time, or cannot stay up.
   * @param {string} name
   * @param {number} timeoutSeconds
   */
  async untilReady(name, timeoutSeconds) {
    const supervised = /** @type {Supervised} */ (this.#processes.get(name));
    const deadline = Date.now() + timeoutSeconds * 1000;
    let problem;
    do {
      problem = await probe(supervised.spec.probe);
      if (problem === undefined) return;
      if (this.#stopping) throw new LauncherError('stopping');
      if (supervised.exits >= 5 || this.#staysDown(supervised)) {
        throw new LauncherError(`does not stay up (${supervised.lastExit})${this.#lastLog(name)}`);
      }
      await pause(50);
    } while (Date.now() < deadline);
    throw new LauncherError(`is not ready after ${timeoutSeconds} s: ${problem}${this.#lastLog(name)}`);
  }

  /** Stops everything: the gateway first, the servers last. */
  async stop() {
    this.#stopping = true;
    for (const kind of stopOrder) {
      const group = [...this.#processes.values()].filter(({ spec }) => spec.kind === kind);
      await Promise.all(
        group.map(async ({ spec, identity }) => {
          if (identity !== undefined) await stopProcess(identity, spec.stopSignal, spec.graceSeconds);
        }),
      );
    }
  }

  /** @param {Supervised} supervised */
  #staysDown(supervised) {
    if (supervised.lastExit === undefined) return false;
    return supervised.lastExit === `exit ${configurationError}` || this.#waitsForRestart(supervised);
  }

  /** @param {Supervised} supervised */
  #waitsForRestart({ spec }) {
    return this.waitsForRestart && spec.kind !== 'server';
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
    const launch = ++supervised.launches;
    const onExit = (/** @type {string} */ how) => {
      if (supervised.launches === launch) this.#onExit(supervised, how, child.pid);
    };
    child.on('error', (error) => onExit(error.message));
    child.on('exit', (code, signal) => onExit(signal ?? `exit ${code}`));
    this.#writeState();
  }

  /** @param {Supervised} supervised @param {string} how @param {number | undefined} pid */
  #onExit(supervised, how, pid) {
    if (this.#stopping) return;
    killGroup(pid);
    supervised.launches += 1;
    const wasStable = Date.now() - supervised.launchedAt > stableMilliseconds;
    supervised.backOffMilliseconds = wasStable
      ? 0
      : Math.min(Math.max(supervised.backOffMilliseconds * 2, 100), backOffMillisecondsMax);
    supervised.exits += 1;
    supervised.lastExit = how;
    supervised.identity = undefined;
    this.#writeState();
    const isRelaunched = wasStable || !this.#waitsForRestart(supervised);
    this.onExit(supervised.spec.name, how, isRelaunched);
    if (!isRelaunched) return;
    supervised.relaunch = setTimeout(() => {
      if (!this.#stopping) this.#launch(supervised);
    }, supervised.backOffMilliseconds);
  }

  #writeState() {
    const processes = [...this.#processes.values()].map(({ spec, identity, launchedAt, exits }) => ({
      name: spec.name,
      kind: spec.kind,
      ...identity,
      port: spec.port,
      probe: spec.probe,
      stopSignal: spec.stopSignal,
      launchedAt,
      exits,
    }));
    writeJson(this.layout.state, { launcher: identify(process.pid), ...this.details, processes });
  }

  /** @param {string} name */
  #lastLog(name) {
    const file = this.layout.log(name);
    const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
    return text.trim() === '' ? '; its log is empty' : `; its last lines (${file}):\n${lastLines(text, 12)}`;
  }
}

/** Kills what a dead process left running in its group. @param {number | undefined} pid */
function killGroup(pid) {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // Nothing was left.
  }
}
