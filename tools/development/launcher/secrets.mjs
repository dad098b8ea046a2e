import { randomBytes } from 'node:crypto';
import { readJson, writeJson } from './json-file.mjs';

/**
 * The secrets of one local platform: made once, kept for as long as its data.
 * @param {import('./paths.mjs').Layout} layout
 */
export function readSecrets(layout) {
  const known = readJson(layout.secrets, /** @type {Record<string, string>} */ ({}));
  const secrets = {
    postgresPassword: known.postgresPassword ?? randomBytes(24).toString('hex'),
    callerKeys: known.callerKeys ?? randomBytes(32).toString('base64'),
    cursorKeys: known.cursorKeys ?? randomBytes(32).toString('base64'),
    eventKeys: known.eventKeys ?? randomBytes(32).toString('base64'),
    pdfRendererKeys: known.pdfRendererKeys ?? randomBytes(32).toString('base64'),
    settingsEncryptionKeys: known.settingsEncryptionKeys ?? randomBytes(32).toString('base64'),
  };
  writeJson(layout.secrets, secrets, 0o600);
  return secrets;
}

/** @typedef {ReturnType<typeof readSecrets>} Secrets */
